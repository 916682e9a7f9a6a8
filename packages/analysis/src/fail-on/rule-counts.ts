import { formatTime } from "@kubewright/api";

import type { FutureSummary } from "../futures/simulate-future.js";
import type { Peaks } from "../futures/pod-peaks.js";
import { incidentKey } from "../futures/incident.js";
import { type Share, wilson } from "../futures/wilson.js";
import { isSelectedBy } from "../input/selection.js";
import type { Rule } from "./rule.js";

/** A violated rule, by one CronJob or Job, or by all selected objects together. */
export interface Violation {
  readonly rule: Rule;
  /** `default/report`; absent when all selected objects together violate the rule. */
  readonly object?: string;
  readonly seed: number;
  readonly atMs: number;
  readonly text: string;
  /** Number of violations in that future. */
  readonly count: number;
  /** Number of futures with a violation, and their share. Set only for many futures. */
  readonly futures?: { readonly broken: number; readonly of: number; readonly share: Share };
}

/** The results of a future that rules check. */
export interface CheckedFuture extends Pick<FutureSummary, "seed" | "groups"> {
  readonly peaks: Pick<Peaks, "selected">;
}

interface ObjectViolations {
  futures: number;
  first: Omit<Violation, "rule" | "futures">;
}

interface FollowedRule {
  readonly rule: Rule;
  /** Number of futures in which any selected object violated the rule. */
  futures: number;
  /** Violations by object. */
  readonly objects: Map<string, ObjectViolations>;
}

/** Checks rules in one or more futures, in any order. */
export class RuleCounts {
  readonly #rules: readonly FollowedRule[];
  #futures = 0;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules.map((rule) => ({ rule, futures: 0, objects: new Map() }));
  }

  add({ seed, groups, peaks }: CheckedFuture): void {
    this.#futures++;
    let podRules = 0;
    for (const followed of this.#rules) {
      const { condition, selection } = followed.rule;
      let isBroken = false;
      if (condition.type === "pods") {
        const peak = peaks.selected[podRules++]!;
        isBroken = peak.level > condition.max;
        const text = `${peak.level} pods at once`;
        if (isBroken) recordViolation(followed, { seed, atMs: peak.atMs, text, count: 1 });
      } else if (condition.type === "run") {
        const key = incidentKey(condition.incident);
        for (const { namespace, name, incidents } of groups) {
          const found = incidents[key];
          if (found === undefined || !isSelectedBy(selection, { namespace, name })) continue;
          isBroken = true;
          const { atMs, text, count } = found;
          recordViolation(followed, { object: `${namespace}/${name}`, seed, atMs, text, count });
        }
      }
      if (isBroken) followed.futures++;
    }
  }

  /** In the order of the rules, and then by name. */
  get violations(): Violation[] {
    const of = this.#futures;
    return this.#rules.flatMap(({ rule, futures, objects }) => {
      const { maxShare } = rule;
      // A share of the futures is exceeded when the lower bound of its confidence interval exceeds it.
      if (maxShare !== undefined && !((wilson(futures, of)?.low ?? 0) > maxShare)) return [];
      return [...objects.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { futures: broken, first }]) => ({
          rule,
          ...first,
          ...(of > 1 ? { futures: { broken, of, share: wilson(broken, of)! } } : {}),
        }));
    });
  }
}

/** Counts the violation, and stores the one with the lowest seed. */
function recordViolation({ objects }: FollowedRule, found: ObjectViolations["first"]): void {
  const key = found.object ?? "";
  const broken = objects.get(key);
  if (broken === undefined) objects.set(key, { futures: 1, first: found });
  else {
    broken.futures++;
    if (found.seed < broken.first.seed) broken.first = found;
  }
}

/** `skipped: default/report at 2026-01-01T07:00:00Z, seed 3: report-1 still active (Forbid); 2 times` */
export function violationText({ rule, object, seed, atMs, text, count, futures }: Violation): string {
  // The text of a change covers many slots.
  if (rule.condition.type === "change") return `${rule.text}: ${object}: ${text}`;
  const subject = object === undefined ? "" : `${object} `;
  const more = count > 1 ? `; ${count.toLocaleString("en-US")} times` : "";
  const many =
    futures === undefined
      ? ""
      : `; in ${futures.broken.toLocaleString("en-US")} of ${futures.of.toLocaleString("en-US")} futures`;
  return `${rule.text}: ${subject}at ${formatTime(atMs)}, seed ${seed}: ${text}${more}${many}`;
}
