import type { KubernetesVersion } from "@kubewright/api";

import { versionName, versionRemark } from "../input/kubernetes-version.js";
import { isoTime } from "../time/iso-time.js";
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
  const { a, b, startMs, endMs, seed, timeZoneData } = header;
  const [versionA, versionB] = header.kubernetesVersions;
  const isNewest = versionRemark(versionA) + versionRemark(versionB) === "";
  yield line({
    type: "header",
    comparisonVersion: 1,
    a,
    b,
    kubernetes: isNewest ? undefined : { a: `v${versionName(versionA)}`, b: `v${versionName(versionB)}` },
    start: isoTime(startMs),
    end: isoTime(endMs),
    seed,
    timeZoneData,
  });
  for (const change of changes) yield line({ type: "change", ...change });
  for (const { kind, namespace, name, presentIn, counts, differences } of groups) {
    for (const difference of differences)
      yield line({ type: "difference", kind, namespace, name, ...wire(difference) });
    yield line({ type: "group", kind, namespace, name, presentIn, ...counts });
  }
  yield line({ type: "summary", ...totals, comparedUntil: isoTime(untilMs) });
}

function wire({ type, slotMs, a, b, absent, differs }: RunDifference): object {
  return { difference: type, slot: isoTime(slotMs), a: a && run(a), b: b && run(b), absent, differs };
}

function run({ job, outcome, blockedBy, refusedStatuses, ...record }: RunRecord): object {
  return {
    job,
    outcome,
    reason: record.skipped ?? record.reason,
    blockedBy,
    createdAt: isoTime(record.createdMs),
    endedAt: isoTime(record.endMs),
    failedPods: outcome === "Skipped" ? undefined : record.failedPods,
    refusedStatuses,
  };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
