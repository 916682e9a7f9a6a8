import type { DigestGroup } from "./run-digest.js";
import type { RefusedRuns } from "./run-statistics.js";

/** A cause for which the API server refuses pods or Jobs, with all CronJobs and Jobs that it affects. Plain data. */
export interface RefusalCause {
  /** The refusing object: `ResourceQuota shop/compute`. Absent when the API server names none. */
  readonly object?: string;
  /** The API server's first reason. */
  readonly text: string;
  /** Runs whose pods were refused. */
  readonly runs: number;
  /** Of these, the runs without any pod. */
  readonly withoutPods: number;
  /** Slots whose Job was refused. */
  readonly slots: number;
  /** Affected CronJobs and Jobs, those with the most refusals first: `shop/report`. */
  readonly workloads: readonly string[];
  /** Slot or creation of the first and the last affected run. Epoch milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Returns the causes of refusals, those with the most affected runs and slots first. */
export function refusalCauses(groups: readonly DigestGroup[]): RefusalCause[] {
  const found = new Map<string, { readonly name: string; readonly refused: RefusedRuns }[]>();
  for (const { group, statistics } of groups)
    for (const [cause, refused] of statistics.refused) {
      const entry = { name: `${group.namespace}/${group.name}`, refused };
      const known = found.get(cause);
      if (known === undefined) found.set(cause, [entry]);
      else known.push(entry);
    }
  return [...found.values()].map(joined).sort((a, b) => b.runs + b.slots - a.runs - a.slots);
}

function joined(entries: readonly { readonly name: string; readonly refused: RefusedRuns }[]): RefusalCause {
  const sum = (of: (refused: RefusedRuns) => number): number =>
    entries.reduce((total, { refused }) => total + of(refused), 0);
  const first = entries.reduce((a, b) => (b.refused.firstMs < a.refused.firstMs ? b : a)).refused;
  const { object, text } = first.refusal;
  return {
    ...(object === undefined ? {} : { object }),
    text,
    runs: sum(({ runs }) => runs),
    withoutPods: sum(({ withoutPods }) => withoutPods),
    slots: sum(({ count, runs }) => count - runs),
    workloads: entries.toSorted((a, b) => b.refused.count - a.refused.count).map(({ name }) => name),
    firstMs: first.firstMs,
    lastMs: Math.max(...entries.map(({ refused }) => refused.lastMs)),
  };
}
