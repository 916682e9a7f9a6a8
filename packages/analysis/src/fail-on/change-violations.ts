import { formatTime } from "@kubewright/api";

import type { Comparison } from "../compare/compare-runs.js";
import { isSelectedBy } from "../input/selection.js";
import type { Rule } from "./rule.js";
import type { Violation } from "./rule-counts.js";

/** Returns a violation for each CronJob or Job whose runs differ although a rule forbids it. */
export function changeViolations(rules: readonly Rule[], { groups }: Comparison, seed: number): Violation[] {
  return rules
    .filter(({ condition }) => condition.type === "change")
    .flatMap((rule) =>
      groups
        .filter((group) => group.differences.length > 0 && isSelectedBy(rule.selection, group))
        .map(({ namespace, name, differences, counts }) => {
          const count = counts.different + counts.onlyA + counts.onlyB;
          const atMs = differences[0]!.slotMs;
          const runs = count === 1 ? "run differs" : "runs differ";
          const text = `${count.toLocaleString("en-US")} ${runs}, first that of ${formatTime(atMs)}`;
          return { rule, object: `${namespace}/${name}`, seed, atMs, text, count };
        }),
    );
}
