import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";
import type { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { FOREIGN_FINALIZER, at, removesFinalizer } from "./plan-events.js";
import { SHARED_LABELS } from "./selectors.js";
import type { Swarm } from "./swarm.js";
import { type Subject, type Workload, mergeWorkloads } from "./workload.js";

/** How a Job's pods behave. */
export interface PodScript {
  readonly runMs: number;
  readonly startMs: number;
  /** Maximum number of failing pod executions before one succeeds, for one index or for the Job; Infinity: all fail. */
  readonly failures: number;
  readonly graceMs: number;
  readonly entries: readonly Omit<WorkloadEntry, "select">[];
}

/** Draws 1 to 6 Jobs that no CronJob owns. */
export function drawJobs(draw: Draw, swarm: Swarm): Workload {
  if (!swarm.has("jobs")) return mergeWorkloads([]);
  const count = draw.weighted([
    [1, 40],
    [2, 25],
    [3, 20],
    [draw.integer(4, 6), 15],
  ]);
  return mergeWorkloads(
    Array.from({ length: count }, (_, index) => drawJob(draw.fork(`job-${index + 1}`), swarm, index + 1)),
  );
}

function drawJob(draw: Draw, swarm: Swarm, number: number): Workload {
  const name = `job-${number}`;
  const namespace = swarm.has("secondNamespace") && draw.fork("namespace").chance(0.4) ? "second" : "default";
  const spec = drawJobSpec(draw, swarm);
  const script = drawPodScript(draw.fork("pods"), swarm, spec);
  const template = podTemplate(draw.fork("template"), swarm, spec, script);
  const overlapping = draw.fork("selector").chance(swarm.chanceOf("overlappingSelectors", 0.5));
  const finalizers = swarm.has("foreignFinalizers") && draw.fork("finalizers").chance(0.5);
  const { restartPolicy: _restartPolicy, ...fields } = spec;
  const manifest = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      namespace,
      labels: { app: name },
      ...(finalizers ? { finalizers: [FOREIGN_FINALIZER] } : {}),
    },
    spec: {
      ...fields,
      ...(overlapping ? { manualSelector: true, selector: { matchLabels: SHARED_LABELS } } : {}),
      template: { ...(overlapping ? { metadata: { labels: SHARED_LABELS } } : {}), ...template },
    },
  } satisfies UnstructuredObject;
  const resumeMs = spec.suspend === true ? draw.fork("resume").integer(1_000, 40_000) : 0;
  const rerunMs = maxJobDurationMs(spec, script);
  const endMs = resumeMs + rerunMs;
  const subject: Subject = {
    kind: "Job",
    namespace,
    name,
    manifest,
    moments: jobMoments(resumeMs, spec, script),
    indexes: spec.completionMode === "Indexed" ? (spec.completions ?? 0) : 0,
    schedules: [],
  };
  const target = { kind: "Job", namespace, name } as const;
  const events: ScenarioEventEntry[] = [
    ...(spec.suspend === true ? [at(resumeMs, { resume: target })] : []),
    ...(finalizers ? [at(endMs, removesFinalizer(target))] : []),
  ];
  const workloads = script.entries.map((entry): WorkloadEntry => ({
    select: { kind: "Job", namespace, name },
    ...entry,
  }));
  return { manifests: [manifest], workloads, events, subjects: [subject], endMs, rerunMs };
}

/** The drawn fields of a Job's spec, without the pod template. */
export interface DrawnJobSpec {
  parallelism?: number;
  completions?: number;
  completionMode?: "Indexed";
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  podFailurePolicy?: { rules: object[] };
  successPolicy?: { rules: object[] };
  podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  managedBy?: string;
  restartPolicy: "Never" | "OnFailure";
}

export function drawJobSpec(draw: Draw, swarm: Swarm): DrawnJobSpec {
  const fork = (field: string): Draw => draw.fork(field);
  const isIndexed = fork("indexed").chance(swarm.chanceOf("indexed", 0.6));
  const isQueue = !isIndexed && swarm.has("workQueue") && fork("queue").chance(0.5);
  const isMany = swarm.has("manyPods") && fork("many").chance(0.7);
  const completions = isQueue
    ? undefined
    : fork("completions").weighted([
        [1, isMany ? 0 : 25],
        [fork("few completions").integer(2, 4), isMany ? 0 : 50],
        [fork("many completions").integer(5, 10), 22],
        [0, 3],
      ]);
  const parallelism = fork("parallelism").weighted([
    [1, isMany ? 0 : 25],
    [fork("some pods").integer(2, 4), isMany ? 0 : 50],
    [fork("many pods").integer(5, 8), 22],
    [0, 3],
  ]);
  const perIndex = isIndexed && fork("perIndex").chance(swarm.chanceOf("backoffLimitPerIndex", 0.6));
  const restartPolicy =
    !perIndex && swarm.has("onFailure") && fork("restartPolicy").chance(0.5) ? "OnFailure" : "Never";
  const hasPolicy = restartPolicy === "Never" && fork("policy").chance(swarm.chanceOf("podFailurePolicy", 0.6));
  const spec: DrawnJobSpec = { restartPolicy, parallelism };
  if (completions !== undefined) spec.completions = completions;
  if (isIndexed) spec.completionMode = "Indexed";
  if (perIndex) {
    spec.backoffLimitPerIndex = fork("backoffLimitPerIndex").integer(0, 2);
    if (fork("limit of indexes").chance(0.5))
      spec.maxFailedIndexes = fork("maxFailedIndexes").integer(0, completions ?? 0);
  }
  if (!perIndex || fork("both limits").chance(0.3)) spec.backoffLimit = fork("backoffLimit").pick([0, 1, 2, 6]);
  if (hasPolicy) {
    const rules = drawPolicyRules(fork("rules"), perIndex);
    const isMixed = swarm.has("mixedFailures") && fork("ignored").chance(0.8);
    spec.podFailurePolicy = { rules: isMixed ? [IGNORED_RULE, ...(fork("alone").chance(0.6) ? [] : rules)] : rules };
  }
  if (
    isIndexed &&
    completions !== undefined &&
    completions > 0 &&
    fork("success").chance(swarm.chanceOf("successPolicy", 0.5))
  )
    spec.successPolicy = { rules: [drawSuccessRule(fork("success rule"), completions)] };
  if (fork("replacement").chance(swarm.chanceOf("podReplacementPolicy", 0.6)))
    spec.podReplacementPolicy = hasPolicy
      ? "Failed"
      : fork("replacement policy").pick(["Failed", "TerminatingOrFailed"]);
  if (fork("deadline").chance(swarm.chanceOf("activeDeadline", 0.4)))
    spec.activeDeadlineSeconds = fork("seconds of deadline").integer(5, 60);
  if (swarm.has("ttl") && fork("ttl").chance(0.65))
    spec.ttlSecondsAfterFinished = fork("seconds of ttl").pick([0, 5, 60, 3600]);
  if (swarm.has("suspend") && fork("suspend").chance(0.4)) spec.suspend = true;
  if (swarm.has("managedBy") && fork("managedBy").chance(0.15)) spec.managedBy = "example.com/other-controller";
  return spec;
}

/** Ignores one of the exit codes of mixed failures. */
const IGNORED_RULE = { action: "Ignore", onExitCodes: { operator: "In", values: [42] } };
const MIXED_CODES = { 0: 0.4, 1: 0.3, 42: 0.3 };

function drawPolicyRules(draw: Draw, perIndex: boolean): object[] {
  return Array.from({ length: draw.integer(1, 3) }, (_, index) => {
    const fork = draw.fork(`rule ${index}`);
    const action = fork.fork("action").pick(["FailJob", "Ignore", "Count", ...(perIndex ? ["FailIndex"] : [])]);
    if (fork.chance(0.3))
      return { action: fork.fork("disrupted").chance(0.8) ? "Ignore" : action, onPodConditions: [drawPattern(fork)] };
    const isIn = fork.fork("operator").chance(0.5);
    const named = fork.fork("container").chance(0.3) ? { containerName: "main" } : {};
    const values = isIn
      ? fork.fork("codes").pick([[42], [1], [1, 42], [137, 143]])
      : fork.fork("codes").pick([[0], [0, 42]]);
    return { action, onExitCodes: { ...named, operator: isIn ? "In" : "NotIn", values } };
  });
}

/** Draws a pod condition pattern. It matches evicted pods, or none of them with that status, or every ended pod. */
function drawPattern(draw: Draw): object {
  return draw.fork("pattern").weighted([
    [{ type: "DisruptionTarget", status: "True" }, 55],
    [{ type: "DisruptionTarget", status: "False" }, 15],
    [{ type: "Ready", status: "True" }, 15],
    [{ type: "Ready", status: "False" }, 15],
  ]);
}

function drawSuccessRule(draw: Draw, completions: number): object {
  const which = draw.pick(["count", "indexes", "both"]);
  const last = draw.fork("last").integer(0, completions - 1);
  const succeededIndexes = last === 0 ? "0" : `0-${last}`;
  const max = which === "both" ? last + 1 : completions;
  return {
    ...(which === "count" ? {} : { succeededIndexes }),
    ...(which === "indexes" ? {} : { succeededCount: draw.fork("count").integer(1, max) }),
  };
}

export function drawPodScript(draw: Draw, swarm: Swarm, { completionMode, completions = 0 }: DrawnJobSpec): PodScript {
  // Most durations are fixed, so that pods end at the same time.
  const isLong = swarm.has("longPods") && draw.fork("very long?").chance(0.7);
  const runMs = draw.fork("run").weighted([
    [isLong ? draw.fork("very long").integer(90, 240) * 1_000 : 1_000, isLong ? 1_000 : 20],
    [draw.fork("short").integer(2, 10) * 1_000, 50],
    [draw.fork("long").integer(11, 60) * 1_000, 30],
  ]);
  const isMixed = swarm.has("mixedFailures");
  // With different durations, a success policy is met while other pods still run.
  const spread = isMixed || draw.fork("spread").chance(swarm.has("successPolicy") ? 0.5 : 0.3);
  const startMs =
    swarm.has("slowPods") && draw.fork("slow").chance(0.3)
      ? draw.fork("start").pick([5_000, 30_000, 120_000])
      : draw.fork("quick start").pick([0, 1_000, 1_000]);
  const ignoreSigterm = draw.fork("sigterm").chance(swarm.chanceOf("ignoreSigterm", 0.4));
  const graceMs = (ignoreSigterm ? draw.fork("grace").pick([1, 30, 120, 600]) : 30) * 1_000;
  const entries: Omit<WorkloadEntry, "select">[] = [
    {
      duration: spread ? `${Math.max(1, runMs / 2_000)}s..${runMs / 1_000}s` : durationText(runMs),
      startupDelay: durationText(startMs),
      ...(ignoreSigterm ? { ignoreSigterm } : {}),
    },
  ];
  let failures = 0;
  if (draw.fork("fails").chance(swarm.chanceOf("failures", 0.7))) {
    const fork = draw.fork("failures");
    const exitCode = fork.fork("code").pick([1, 1, 42, 137]);
    const how = fork.pick(["always", "first", "first", "indexes", "share"]);
    if (isMixed) {
      failures = 2;
      entries.push({ exitCode: MIXED_CODES });
    } else if (how === "always") {
      failures = Number.POSITIVE_INFINITY;
      entries.push({ exitCode });
    } else if (how === "first") {
      failures = fork.fork("attempts").integer(1, 3);
      entries.push({ attempts: failures === 1 ? 1 : `1-${failures}`, exitCode });
    } else if (how === "indexes" && completionMode === "Indexed" && completions > 0) {
      const isForEver = fork.fork("for ever").chance(0.5);
      failures = isForEver ? Number.POSITIVE_INFINITY : 1;
      const indexes = fork.fork("index").integer(0, completions - 1);
      entries.push({ indexes, ...(isForEver ? {} : { attempts: 1 }), exitCode });
    } else {
      failures = Number.POSITIVE_INFINITY;
      entries.push({ exitCode: { 0: 0.7, [exitCode]: 0.3 } });
    }
  }
  return { runMs, startMs, failures, graceMs, entries };
}

export function podTemplate(
  draw: Draw,
  swarm: Swarm,
  { restartPolicy }: DrawnJobSpec,
  script: PodScript,
): { spec: object } {
  const names = swarm.has("severalContainers") && draw.chance(0.3) ? ["main", "side"] : ["main"];
  return {
    spec: {
      restartPolicy,
      containers: names.map((name) => ({ name, image: `registry.example.com/${name}:1` })),
      ...(script.graceMs === 30_000 ? {} : { terminationGracePeriodSeconds: script.graceMs / 1_000 }),
    },
  };
}

/** Time for event batching, scheduling and writes, per generation of pods. */
const ROUND_MS = 4_000;
const LONGEST_BACK_OFF_MS = 600_000;

/** Returns the latest end of a Job without faults, from its creation, even if its pods run one after the other. */
export function maxJobDurationMs(spec: DrawnJobSpec, script: PodScript): number {
  if (spec.managedBy !== undefined || spec.parallelism === 0) return 0;
  const { completions = 1, parallelism = 1, backoffLimit, backoffLimitPerIndex } = spec;
  const roundMs = script.startMs + script.runMs + ROUND_MS;
  const waves = Math.ceil(completions / parallelism);
  const limit = backoffLimitPerIndex ?? backoffLimit ?? 6;
  const failures = Math.min(limit + 1, script.failures === 0 ? 0 : script.failures);
  let backOffMs = 0;
  for (let failure = 0; failure < failures; failure++)
    backOffMs += Math.min(10_000 * 2 ** failure, LONGEST_BACK_OFF_MS);
  const eachMs = failures * roundMs + backOffMs;
  // With failures per index, or by probability, every wave may fail again.
  const failingMs = backoffLimitPerIndex === undefined ? eachMs : eachMs * waves;
  const boundMs = waves * roundMs + failingMs;
  const deadlineMs = (spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
  return Math.min(boundMs, deadlineMs + ROUND_MS) + script.graceMs;
}

/** Returns the starts and ends of a Job's pods without delays. */
function jobMoments(fromMs: number, spec: DrawnJobSpec, { runMs, startMs }: PodScript): number[] {
  const waves = Math.min(4, Math.ceil((spec.completions ?? 1) / Math.max(1, spec.parallelism ?? 1)));
  const moments = [fromMs];
  for (let wave = 0; wave < waves; wave++) {
    const begunMs = fromMs + wave * (startMs + runMs + 2_000);
    moments.push(begunMs + startMs, begunMs + startMs + runMs);
  }
  if (spec.activeDeadlineSeconds !== undefined) moments.push(fromMs + spec.activeDeadlineSeconds * 1_000);
  if (spec.ttlSecondsAfterFinished !== undefined)
    moments.push(fromMs + waves * (startMs + runMs + 2_000) + spec.ttlSecondsAfterFinished * 1_000);
  return moments;
}
