import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";
import { labelSelectorMatcher, mutableCopy } from "@kubewright/api";
import { WORKLOAD_ANNOTATION_PREFIX } from "@kubewright/cluster/kubelet";

import type { ScenarioObject } from "./scenario-event.js";
import type { WorkloadEntry } from "./scenario-schema.js";

interface PodTemplate {
  metadata?: { annotations?: Record<string, string> };
  spec?: { containers?: readonly { name?: string }[] };
}

interface JobLike {
  metadata?: { labels?: Record<string, string> };
  spec?: { template?: PodTemplate };
}

/** Reports whether an entry selects a manifest; only Jobs and CronJobs can be selected. */
export function isSelected(entry: WorkloadEntry, object: DeepReadonly<UnstructuredObject>): boolean {
  const { kind, name, namespace, labels } = entry.select;
  const job = jobOf(object);
  if (job === undefined || (kind !== undefined && kind !== object.kind)) return false;
  if (name !== undefined && !matchesName(name, object.metadata.name ?? "")) return false;
  if (namespace !== undefined && !matchesName(namespace, object.metadata.namespace ?? "default")) return false;
  return (
    labels === undefined ||
    labelSelectorMatcher({ matchLabels: labels })({ ...job.metadata?.labels, ...object.metadata.labels })
  );
}

/** Reports whether a pattern matches a whole name; `*` stands for any characters. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const last = rest.pop()!;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  // Each piece matches as early as possible, so there is no backtracking.
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length;
}

/** Returns the names of the containers in a Job's or CronJob's pod template. */
export function containersOf(object: DeepReadonly<UnstructuredObject>): string[] {
  return (jobOf(object)?.spec?.template?.spec?.containers ?? []).map(({ name }) => name ?? "");
}

/** Reports whether a Job or CronJob specifies the duration of its pods. */
export function hasDuration(object: DeepReadonly<UnstructuredObject>): boolean {
  const annotations = jobOf(object)?.spec?.template?.metadata?.annotations ?? {};
  return (
    annotations[`${WORKLOAD_ANNOTATION_PREFIX}duration`] !== undefined ||
    String(annotations[RULES]).includes('"duration"')
  );
}

/** Reports whether a Job or CronJob specifies how its pods end: an exit code, or how many of them fail. */
export function hasOutcome(object: DeepReadonly<UnstructuredObject>): boolean {
  const annotations = jobOf(object)?.spec?.template?.metadata?.annotations ?? {};
  return (
    OUTCOME_ANNOTATIONS.some((name) => annotations[`${WORKLOAD_ANNOTATION_PREFIX}${name}`] !== undefined) ||
    String(annotations[RULES]).includes('"exitCode"')
  );
}

const OUTCOME_ANNOTATIONS = ["exit-code", "failure-rate", "failing-indexes"];

/**
 * Returns the manifests with the entries for their containers as an annotation of their pod templates. Existing Jobs
 * and pods use the entries for the CronJob or Job that owns them.
 */
export function withWorkloads<Simulated extends ScenarioObject>(
  manifests: readonly Simulated[],
  entries: readonly WorkloadEntry[],
): Simulated[] {
  if (entries.length === 0) return [...manifests];
  const byUid = new Map(manifests.map(({ object }) => [object.metadata.uid, object]));
  return manifests.map((manifest) => {
    const subject = topOwner(manifest.object, byUid);
    const rules = entries.filter((entry) => isSelected(entry, subject)).map(ruleOf);
    if (rules.length === 0) return manifest;
    const object = mutableCopy(manifest.object);
    const described = object.kind === "Pod" ? (object as PodTemplate) : jobOf(object)?.spec?.template;
    if (described === undefined) return manifest;
    const annotations = described.metadata?.annotations ?? {};
    described.metadata = {
      ...described.metadata,
      annotations: { ...annotations, [RULES]: mergeRules(annotations[RULES], rules) },
    };
    return { ...manifest, object };
  });
}

const RULES = `${WORKLOAD_ANNOTATION_PREFIX}rules`;

/** Appends rules to existing ones; within the list, later rules win. */
function mergeRules(before: string | undefined, rules: readonly object[]): string {
  try {
    const earlier: unknown = JSON.parse(before ?? "[]");
    if (Array.isArray(earlier)) return JSON.stringify([...(earlier as object[]), ...rules]);
  } catch {
    // The kubelet would report an invalid annotation and ignore it.
  }
  return JSON.stringify(rules);
}

function topOwner(
  object: UnstructuredObject,
  byUid: ReadonlyMap<string | undefined, UnstructuredObject>,
): UnstructuredObject {
  for (let current = object; ;) {
    const owner = current.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const next = owner === undefined ? undefined : byUid.get(owner.uid);
    // A hand-written manifest should not own itself, but could.
    if (next === undefined || next === object) return current;
    current = next;
  }
}

function jobOf(object: DeepReadonly<UnstructuredObject>): JobLike | undefined {
  if (object.kind === "Job") return object;
  if (object.kind !== "CronJob") return undefined;
  return ((object as unknown as { spec?: { jobTemplate?: JobLike } }).spec ?? {}).jobTemplate;
}

function ruleOf({ select: _select, indexes, attempts, exitCode, ...rest }: WorkloadEntry): object {
  return {
    ...rest,
    ...(indexes === undefined ? {} : { indexes: String(indexes) }),
    ...(attempts === undefined ? {} : { attempts: String(attempts) }),
    ...(exitCode === undefined ? {} : { exitCode: exitCodeText(exitCode) }),
  };
}

/** Formats exit codes for the kubelet's annotations: `3`, or `0=0.9,137=0.1`. */
export function exitCodeText(exitCode: NonNullable<WorkloadEntry["exitCode"]>): string {
  if (typeof exitCode === "number") return String(exitCode);
  return Object.entries(exitCode)
    .map(([code, share]) => `${code}=${share}`)
    .join(",");
}
