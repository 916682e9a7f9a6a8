import type { NodeRefusal, QuotaRefusal, Refusals } from "./refusals.js";
import { type Share, wilson } from "./wilson.js";

/** Refusals over many futures. */
export interface RefusalChance {
  /** Number and share of the futures with a refusal. */
  readonly futures: number;
  readonly perFuture: Share;
  /** Sums over all futures. */
  readonly pods: number;
  readonly jobs: number;
  /** The future with the most refusals; of equal ones the lowest seed. */
  readonly worst: { readonly seed: number; readonly pods: number; readonly jobs: number };
}

export type QuotaChance = RefusalChance & Pick<QuotaRefusal, "namespace" | "quota" | "resource">;
export type NodeChance = RefusalChance & Pick<NodeRefusal, "reason">;

/** Aggregates the refusals of futures. Memory grows only with the number of quotas and reasons. */
export class RefusalStatistics {
  readonly #quotas = new Map<string, Counted<Pick<QuotaRefusal, "namespace" | "quota" | "resource">>>();
  readonly #nodes = new Map<string, Counted<Pick<NodeRefusal, "reason">>>();

  add({ quotas, nodes }: Refusals, seed: number): void {
    for (const { namespace, quota, resource, pods, jobs } of quotas)
      count(this.#quotas, `${namespace}/${quota}/${resource}`, { namespace, quota, resource }, { seed, pods, jobs });
    for (const { reason, pods } of nodes) count(this.#nodes, reason, { reason }, { seed, pods, jobs: 0 });
  }

  /** Sorted by namespace, name and resource. @param all - Number of futures. */
  quotas(all: number): QuotaChance[] {
    return chances(this.#quotas, all);
  }

  /** Sorted by reason. @param all - Number of futures. */
  nodes(all: number): NodeChance[] {
    return chances(this.#nodes, all);
  }
}

interface Counted<What> {
  readonly what: What;
  futures: number;
  pods: number;
  jobs: number;
  worst: RefusalChance["worst"];
}

function count<What>(all: Map<string, Counted<What>>, key: string, what: What, found: RefusalChance["worst"]): void {
  const counted = all.get(key);
  if (counted === undefined) {
    all.set(key, { what, futures: 1, pods: found.pods, jobs: found.jobs, worst: found });
    return;
  }
  counted.futures++;
  counted.pods += found.pods;
  counted.jobs += found.jobs;
  const more = found.pods + found.jobs - counted.worst.pods - counted.worst.jobs;
  if (more > 0 || (more === 0 && found.seed < counted.worst.seed)) counted.worst = found;
}

function chances<What>(counted: ReadonlyMap<string, Counted<What>>, all: number): (RefusalChance & What)[] {
  return [...counted]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { what, futures, pods, jobs, worst }]) => ({
      ...what,
      futures,
      perFuture: wilson(futures, all)!,
      pods,
      jobs,
      worst,
    }));
}
