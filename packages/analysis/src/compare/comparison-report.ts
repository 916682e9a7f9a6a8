import type { ComparisonReport, ReportData } from "@kubewright/timeline/data";

import type { Comparison } from "./compare-runs.js";
import { sideText, valueText } from "./comparison-text.js";
import type { ManifestChange } from "./manifest-changes.js";

/** Maximum number of differences that a page lists for one CronJob; the others are counted. */
const MAX_LISTED = 1_000;

/** Builds the data of a page with two runs and their differences, as text for each CronJob and Job that differs. */
export function comparisonReport(
  titles: ComparisonReport["titles"],
  a: ReportData,
  b: ReportData,
  { groups, totals, untilMs }: Comparison,
  changes: readonly ManifestChange[],
): ComparisonReport {
  const differing = groups.map(({ kind, namespace, name, presentIn, counts, differences }) => ({
    kind,
    namespace,
    name,
    presentIn,
    counts,
    changes: changes
      .filter(({ object }) => object === `${kind} ${namespace}/${name}`)
      .map(({ field, before, after }) => `${field}: ${valueText(before)} → ${valueText(after)}`),
    differences: differences.slice(0, MAX_LISTED).map((difference) => ({
      type: difference.type,
      slotMs: difference.slotMs,
      a: sideText(difference, "a"),
      b: sideText(difference, "b"),
    })),
    unlisted: Math.max(0, differences.length - MAX_LISTED),
  }));
  return {
    titles,
    a,
    b,
    totals,
    ...(untilMs === undefined ? {} : { untilMs }),
    groups: differing.filter((group) => group.differences.length + group.changes.length > 0),
    equalGroups: differing.filter((group) => group.differences.length + group.changes.length === 0).length,
  };
}
