import type { KubernetesVersion } from "@kubewright/api";

import { versionName, versionRemark } from "../input/kubernetes-version.js";
import type { Comparison, RunDifference } from "./compare-runs.js";
import type { ManifestChange } from "./manifest-changes.js";
import type { RunRecord } from "./run-records.js";

export interface ComparisonHeader {
  /** The files of each side. */
  readonly a: readonly string[];
  readonly b: readonly string[];
  /** The simulated releases of A and B. */
  readonly kubernetesVersions: readonly [KubernetesVersion, KubernetesVersion];
  readonly startMs: number;
  readonly endMs: number;
  readonly seed: number;
  readonly timeZoneData: string;
}

/**
 * Formats a comparison as JSON lines. Times are RFC 3339 in UTC. The records are:
 *
 * - a `header`
 * - a `change` for each field that differs between the manifests
 * - a `difference` for each run that differs
 * - a `group` with the counts of each CronJob and Job
 * - a `summary`
 */
export function* comparisonLines(
  header: ComparisonHeader,
  { groups, totals, untilMs }: Comparison,
  changes: readonly ManifestChange[],
): Generator<string> {
  const {
    a,
    b,
    kubernetesVersions: [versionA, versionB],
    startMs,
    endMs,
    seed,
    timeZoneData,
  } = header;
  yield line({
    type: "header",
    comparisonVersion: 1,
    a,
    b,
    ...(versionRemark(versionA) + versionRemark(versionB) === ""
      ? {}
      : { kubernetes: { a: `v${versionName(versionA)}`, b: `v${versionName(versionB)}` } }),
    start: time(startMs),
    end: time(endMs),
    seed,
    timeZoneData,
  });
  for (const change of changes) yield line({ type: "change", ...change });
  for (const { kind, namespace, name, presentIn, counts, differences } of groups) {
    for (const difference of differences)
      yield line({ type: "difference", kind, namespace, name, ...wire(difference) });
    yield line({ type: "group", kind, namespace, name, presentIn, ...counts });
  }
  yield line({ type: "summary", ...totals, ...(untilMs === undefined ? {} : { comparedUntil: time(untilMs) }) });
}

function wire({ type, slotMs, a, b, absent, differs }: RunDifference): object {
  return {
    difference: type,
    slot: time(slotMs),
    ...(a === undefined ? {} : { a: run(a) }),
    ...(b === undefined ? {} : { b: run(b) }),
    ...(absent === undefined ? {} : { absent }),
    ...(differs === undefined ? {} : { differs }),
  };
}

function run({
  job,
  outcome,
  reason,
  skipped,
  blockedBy,
  createdMs,
  endMs,
  failedPods,
  refusedStatuses,
}: RunRecord): object {
  return {
    ...(job === undefined ? {} : { job }),
    outcome,
    ...(reason === undefined && skipped === undefined ? {} : { reason: skipped ?? reason }),
    ...(blockedBy === undefined ? {} : { blockedBy }),
    ...(createdMs === undefined ? {} : { createdAt: time(createdMs) }),
    ...(endMs === undefined ? {} : { endedAt: time(endMs) }),
    ...(outcome === "Skipped" ? {} : { failedPods }),
    ...(refusedStatuses === undefined ? {} : { refusedStatuses }),
  };
}

function time(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
