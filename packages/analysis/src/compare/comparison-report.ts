import type { ComparisonReport, ReportData } from "@kubewright/timeline/data";

import type { Comparison } from "./compare-runs.js";
import { foldDifferences } from "./fold-differences.js";
import { valueText } from "./comparison-text.js";
import type { ManifestChange } from "./manifest-changes.js";

/** Maximum number of lines that a page has for one CronJob; the other differences are counted. */
const MAX_LISTED = 1_000;

/** Builds the data of a page with two runs and their differences, as text for each CronJob and Job that differs. */
export function comparisonReport(
  titles: ComparisonReport["titles"],
  a: ReportData,
  b: ReportData,
  { groups, totals, untilMs }: Comparison,
  changes: readonly ManifestChange[],
): ComparisonReport {
  const differing = groups
    .map((group) => ({ group, differences: foldDifferences(group) }))
    .map(({ group: { kind, namespace, name, presentIn, counts }, differences }) => ({
      kind,
      namespace,
      name,
      presentIn,
      counts,
      changes: changes
        .filter(({ object }) => object === `${kind} ${namespace}/${name}`)
        .map(({ field, before, after }) => `${field}: ${valueText(before)} → ${valueText(after)}`),
      differences: differences.slice(0, MAX_LISTED),
      unlisted: differences.slice(MAX_LISTED).reduce((sum, { repeated }) => sum + (repeated?.count ?? 1), 0),
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
