import { formatTime } from "@kubewright/api";

import type { Comparison } from "../compare/compare-runs.js";
import { isSelectedBy } from "../selection.js";
import type { Rule } from "./rule.js";

/** One line for each CronJob or Job whose runs differ though a rule wants them the same. */
export function changeViolations(rules: readonly Rule[], { groups }: Comparison): string[] {
  return rules
    .filter(({ what }) => what.type === "change")
    .flatMap(({ text, selection }) =>
      groups
        .filter((group) => group.differences.length > 0 && isSelectedBy(selection, group))
        .map(({ namespace, name, differences, counts }) => {
          const all = counts.different + counts.onlyA + counts.onlyB;
          return `${text}: ${namespace}/${name}: ${all.toLocaleString("en-US")} ${all === 1 ? "run differs" : "runs differ"}, first that of ${formatTime(differences[0]!.slotMs)}`;
        }),
    );
}
