import type { UnstructuredObject } from "@kubewright/api";
import { type Random, parseDuration, seededRandom } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import {
  FAULT_KINDS,
  type FaultKind,
  type ScenarioEventEntry,
  definitionOf,
  effectsOf,
  kindsWith,
} from "../faults/registry.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";
import { SCENARIO_API_VERSION } from "../scenario/schema.js";
import { drawCronJobs } from "./cron-jobs.js";
import { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import {
  type FaultContext,
  drawTargetedFaults,
  drawFaultsAroundUsers,
  drawBackgroundFaults,
  drawPhaseFlip,
} from "./faults.js";
import { endOfScenarioEvent, sortByStart } from "./event-times.js";
import { drawJobs } from "./jobs.js";
import { drawNodeActions } from "./node-actions.js";
import { drawOwnership } from "./ownership.js";
import { drawOwnPods } from "./own-pods.js";
import { drawQuotas } from "./quotas.js";
import { type FaultTargets, KUBERNETES, targetsOf } from "./request-kinds.js";
import { drawControllers, drawJitter, drawNodes, drawReplicas } from "./settings.js";
import type { Situation, SituationContext } from "./situation.js";
import { drawSituations } from "./situations.js";
import { SHAPES, type Shape } from "./shape.js";
import { Swarm } from "./swarm.js";
import { drawUserActions } from "./user-actions.js";
import { type Workload, mergeWorkloads } from "./workload.js";

export interface GenerateOptions {
  /** Permitted kinds of fault. Default: all; `[]`: none. */
  readonly faults?: readonly FaultKind[];
  /** Permitted features of workloads. Default: all. */
  readonly shapes?: readonly Shape[];
  /** Generates the workload in place of Jobs and CronJobs: objects and user actions. */
  readonly workload?: (random: Random) => CustomWorkload;
  /** Names of the controllers that faults target. Default: those of Kubernetes. */
  readonly controllers?: readonly string[];
}

/** A workload that the caller generates. */
export interface CustomWorkload {
  readonly manifests: readonly UnstructuredObject[];
  readonly workloads?: readonly WorkloadEntry[];
  /** User actions, at offsets from the start such as `+5s`. */
  readonly events?: readonly ScenarioEventEntry[];
  /** Duration without faults. Default: 1m. */
  readonly lasts?: string;
}

/**
 * Generates the plan of a seed: a workload, user actions and faults, and then time for the cluster to quiesce.
 *
 * Plans of even seeds have background faults: each request fails with a small probability. Plans of odd seeds have one
 * to three faults at certain writes. Each part draws from its own source, so that fewer `faults` or `shapes` leave the
 * rest of a plan unchanged.
 *
 * @param seed - 0 to 4294967295.
 */
export function generatePlan(seed: number, options: GenerateOptions = {}): FaultPlan {
  const { faults: allowed = FAULT_KINDS, shapes = SHAPES } = options;
  const draw = new Draw(seededRandom(seed).fork("plan"));
  const tossed = Swarm.toss(draw.fork("shapes"), shapes, (shape) => SHAPE_RATES[shape] ?? 0.5);
  const situations = drawSituationsOf(draw.fork("situations?"), options);
  const isAlone = situations.length > 0 && draw.fork("alone").chance(0.6);
  const swarm = tossed
    .without(situations.flatMap(({ without }) => without))
    .with(situations.flatMap((situation) => situation.shapes).filter((shape) => shapes.includes(shape)));
  const custom = options.workload?.(seededRandom(seed).fork("workload"));
  const { start, workload } =
    custom === undefined ? drawWorkload(draw, swarm) : { start: START, workload: fromCustomWorkload(custom) };
  const replicas = drawReplicas(draw.fork("replicas"), swarm, workload.endMs);
  const nodes = drawNodes(draw.fork("nodes"));
  const windowMs = Math.max(SHORTEST_WINDOW_MS, Math.min(workload.endMs, LONGEST_WINDOW_MS));
  const situationContext = { subjects: workload.subjects, windowMs, nodes: nodes.count ?? 1, replicas };
  const situationEvents = drawSituationEvents(draw.fork("arranged"), situations, situationContext);
  const faults = isAlone
    ? new Swarm<FaultKind>([])
    : withoutStaleRestarts(drawFaultKinds(draw.fork("faults"), allowed), situationEvents);
  const context: FaultContext = { faults, ...situationContext, targets: targetsFor(options, workload) };
  const jitter = drawJitter(draw.fork("jitter"), faults);
  const users = [
    ...drawOwnership(draw.fork("ownership"), swarm, workload.subjects),
    ...(isAlone ? [] : drawUserActions(draw.fork("users"), swarm, workload.subjects, windowMs)),
    ...drawNodeActions(draw.fork("node actions"), swarm, context.nodes, windowMs),
  ];
  const faultEvents =
    seed % 2 === 0
      ? drawBackgroundFaults(draw.fork("background"), context)
      : drawTargetedFaults(draw.fork("aimed"), context);
  const around = drawFaultsAroundUsers(draw.fork("around users"), context, users);
  const flips = faults.has("phaseFlip") ? drawPhaseFlip(draw.fork("phase flip"), context) : [];
  const events = sortByStart([
    ...workload.events,
    ...users,
    ...withoutDisallowed(situationEvents, allowed),
    ...faultEvents,
    ...around,
    ...flips,
  ]);
  const overMs = Math.max(workload.endMs, ...events.map(endOfScenarioEvent));
  return {
    apiVersion: SCENARIO_API_VERSION,
    kind: "Scenario",
    name: `seed-${seed}`,
    seed,
    start,
    for: durationText(Math.ceil((overMs + workload.rerunMs + SLACK_MS) / 1_000) * 1_000),
    ...(replicas === 1 ? {} : { controllerManagers: replicas }),
    controllers: drawControllers(draw.fork("controllers"), swarm, replicas),
    ...(jitter === undefined ? {} : { jitter }),
    nodes: [nodes],
    workloads: workload.workloads,
    manifests: [
      ...namespacesOf(workload, [...users, ...situationEvents]),
      ...drawQuotas(draw.fork("quotas"), swarm, workload.subjects),
      ...workload.manifests,
    ],
    events,
  };
}

/**
 * Draws the situations. Nine of ten plans of Kubernetes' own workloads and controllers are built around one or more.
 */
function drawSituationsOf(draw: Draw, { workload, controllers }: GenerateOptions): Situation[] {
  return workload !== undefined || controllers !== undefined || draw.chance(0.1)
    ? []
    : drawSituations(draw.fork("which"));
}

/** Removes the faults that are not permitted; user actions are always permitted. */
function withoutDisallowed(
  entries: readonly ScenarioEventEntry[],
  allowed: readonly FaultKind[],
): ScenarioEventEntry[] {
  return entries.filter((entry) => {
    if (entry.patch?.subresource === "status") return allowed.includes("phaseFlip");
    const kind = FAULT_KINDS.find((fault) => fault in entry);
    return kind === undefined || allowed.includes(kind);
  });
}

const START = "2026-01-01T00:00:00Z";
const DEFAULT_LENGTH_MS = 60_000;

function fromCustomWorkload({ manifests, workloads = [], events = [], lasts }: CustomWorkload): Workload {
  const endMs = parseDuration(lasts ?? "") ?? DEFAULT_LENGTH_MS;
  return { manifests, workloads, events, subjects: [], endMs, rerunMs: endMs };
}

function targetsFor({ controllers }: GenerateOptions, { manifests }: Workload): FaultTargets {
  if (controllers === undefined) return KUBERNETES;
  const kinds = manifests.map(({ kind }) => kind ?? "").filter((kind) => kind !== "CustomResourceDefinition");
  return targetsOf(controllers, [...new Set(kinds)]);
}

/** Bounds of the window in which faults begin; within the bounds the window is as long as the workload. */
const SHORTEST_WINDOW_MS = 60_000;
const LONGEST_WINDOW_MS = 30 * 60_000;
/** Time to detect and repair everything after the last fault: expectations expire after five minutes. */
const SLACK_MS = 360_000 + 180_000;

/** Rates of features that would dominate the plans at the default of 0.5. */
const SHAPE_RATES: Partial<Record<Shape, number>> = {
  jobs: 0.85,
  failures: 0.7,
  mixedFailures: 0.1,
  cronJobs: 0.35,
  managedBy: 0.15,
  overlappingSelectors: 0.2,
  foreignFinalizers: 0.25,
  ownership: 0.3,
  nodes: 0.25,
  ownPods: 0.15,
  quota: 0.2,
  userRelabels: 0.25,
  replicas: 0.3,
  slowPods: 0.3,
  longPods: 0.15,
  manyPods: 0.1,
  unevenSchedules: 0.3,
  relativeSchedules: 0.1,
  timeZones: 0.1,
  tightHistory: 0.15,
  tightQuota: 0.3,
  longRuns: 0.1,
};

function drawWorkload(draw: Draw, swarm: Swarm): { readonly start: string; readonly workload: Workload } {
  const { start, workload: cronJobs } = drawCronJobs(draw.fork("cron jobs"), swarm);
  const jobs = drawJobs(draw.fork("jobs"), swarm);
  const isEmpty = cronJobs.subjects.length + jobs.subjects.length === 0;
  // An empty plan tests nothing.
  return {
    start,
    workload: isEmpty
      ? drawJobs(draw.fork("jobs"), new Swarm<Shape>(["jobs"]))
      : mergeWorkloads([jobs, cronJobs, drawOwnPods(draw.fork("own pods"), swarm, jobs.subjects)]),
  };
}

/** Draws the kinds of fault of a plan; about one plan in six has none. */
function drawFaultKinds(draw: Draw, allowed: readonly FaultKind[]): Swarm<FaultKind> {
  if (draw.fork("none").chance(0.15)) return new Swarm<FaultKind>([]);
  return Swarm.toss(draw, allowed, (kind) => SETTING_RATES[kind] ?? definitionOf(kind)?.share ?? 0.25);
}

/** Rates of faults that are no events. */
const SETTING_RATES: Partial<Record<FaultKind, number>> = { jitter: 0.4, phaseFlip: 0.03 };

/**
 * Keeps stale lists and restarts out of the same plan. A restarted process could list a state older than its
 * predecessor's writes, and then even upstream counts a pod twice.
 */
function withoutStaleRestarts(
  faults: Swarm<FaultKind>,
  situationEvents: readonly ScenarioEventEntry[],
): Swarm<FaultKind> {
  const effects = effectsOf(situationEvents);
  const left = effects.has("restarts") ? faults.without(OLD_LISTS) : faults;
  return effects.has("returnsOldLists") || OLD_LISTS.some((kind) => left.has(kind)) ? left.without(RESTARTS) : left;
}

const RESTARTS = kindsWith("restarts");
const OLD_LISTS = kindsWith("returnsOldLists");

/** Draws the events of each situation, without situations that would combine restarts with stale lists. */
function drawSituationEvents(
  draw: Draw,
  situations: readonly Situation[],
  context: SituationContext,
): ScenarioEventEntry[] {
  let kept: readonly ScenarioEventEntry[] = [];
  for (const [number, situation] of situations.entries()) {
    const together = [...kept, ...situation.draw(draw.fork(String(number)), context)];
    const effects = effectsOf(together);
    if (!effects.has("returnsOldLists") || !effects.has("restarts")) kept = together;
  }
  return [...kept];
}

function namespacesOf({ subjects }: Workload, events: readonly ScenarioEventEntry[]): UnstructuredObject[] {
  const isUsed =
    subjects.some(({ namespace }) => namespace === "second") ||
    events.some(({ apply }) => typeof apply === "object" && apply.metadata.namespace === "second");
  return isUsed ? [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "second" } }] : [];
}
