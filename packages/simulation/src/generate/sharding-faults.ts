import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import type { ShardingFaultKind } from "../faults/registry.js";

export interface ShardingFaultContext {
  readonly faults: readonly ShardingFaultKind[];
  readonly managers: number;
  /** Latest start of a fault, in milliseconds from the plan's start. */
  readonly windowMs: number;
}

/** Before this time no manager owns a bucket. */
const EARLIEST_MS = 16_000;

/**
 * Draws three to ten faults of managers that share work: crashes, shutdowns, late starts, pauses, failing or slow Lease
 * renewals, refused writes of the assignment, wrong clocks, and stale caches. All of them end.
 */
export function drawShardingFaults(
  draw: Draw,
  { faults, managers, windowMs }: ShardingFaultContext,
): ScenarioEventEntry[] {
  const ways = SHARDING_ROWS.filter(({ kind }) => faults.includes(kind)).map((way) => [way, way.weight] as const);
  if (ways.length === 0) return [];
  const restarts = draw.fork("restless").chance(0.5) ? drawRestarts(draw.fork("restarts"), { faults, managers }) : [];
  const count = draw.fork("count").integer(3, 10);
  const others = Array.from({ length: count }, (_, number) => {
    const fork = draw.fork(String(number));
    const manager = `controller-manager-${fork.fork("manager").integer(1, managers)}`;
    const atMs = fork.fork("at").integer(EARLIEST_MS, Math.max(EARLIEST_MS, windowMs));
    return { at: offsetText(atMs), ...fork.fork("way").weighted(ways).make(fork.fork("what"), manager) };
  });
  return [...restarts, ...others];
}

/**
 * Draws restarts of one manager after the other, with or without a shutdown. Each time its buckets go to the other
 * managers. After half a minute without changes, some buckets come back.
 */
function drawRestarts(
  draw: Draw,
  { faults, managers }: Pick<ShardingFaultContext, "faults" | "managers">,
): ScenarioEventEntry[] {
  const ways = (["shutdown", "controllerDown"] as const).filter((way) => faults.includes(way));
  if (ways.length === 0) return [];
  const everyMs = draw.fork("every").integer(40_000, 75_000);
  return Array.from({ length: draw.fork("count").integer(4, 9) }, (_, number) => {
    const fork = draw.fork(String(number));
    return {
      at: offsetText(EARLIEST_MS + (number + 1) * everyMs),
      for: durationText(fork.fork("for").integer(500, 15_000)),
      [fork.fork("way").pick(ways)]: `controller-manager-${(number % managers) + 1}`,
    };
  });
}

interface ShardingFaultGenerator {
  readonly kind: ShardingFaultKind;
  readonly weight: number;
  /** Mutants that it catches sooner, or issues of Kubernetes. */
  readonly because: readonly string[];
  readonly make: (draw: Draw, manager: string) => Omit<ScenarioEventEntry, "at">;
}

/**
 * Draws a duration around the members' delays: renewal (2 s), renew deadline (8 s), lease duration (15 s), and the
 * delay before buckets move (30 s).
 */
function drawDuration(draw: Draw): { readonly for: string } {
  const [from, to] = draw.fork("for about").pick([
    [200, 3_000],
    [3_000, 9_000],
    [9_000, 20_000],
    [20_000, 70_000],
  ] as const);
  return { for: durationText(draw.fork("for").integer(from, to)) };
}

const MEMBER_FAULTS: readonly ShardingFaultGenerator[] = [
  {
    kind: "controllerDown",
    weight: 20,
    because: [],
    make: (draw, manager) => ({ ...drawDuration(draw), controllerDown: manager }),
  },
  {
    kind: "shutdown",
    weight: 20,
    because: ["shard-release-before-outcomes"],
    make: (draw, manager) => ({ ...drawDuration(draw), shutdown: manager }),
  },
  {
    kind: "paused",
    weight: 20,
    because: ["shard-fence-missing"],
    make: (draw, manager) => ({ ...drawDuration(draw), paused: manager }),
  },
  {
    kind: "leaseLost",
    weight: 12,
    because: ["shard-fence-missing"],
    make: (draw, manager) => ({ ...drawDuration(draw), leaseLost: manager }),
  },
  {
    kind: "clockSkew",
    weight: 6,
    because: [],
    make: (draw, manager) => {
      const byMs = draw.fork("by").pick([1_000, 3_000, 30_000, 3_600_000]);
      const by = `${draw.fork("sign").pick(["+", "-"])}${durationText(byMs)}`;
      return { ...drawDuration(draw), clockSkew: { controllerManager: manager, by } };
    },
  },
];

const REQUEST_FAULTS: readonly ShardingFaultGenerator[] = [
  {
    kind: "apiServerSlow",
    weight: 8,
    because: ["shard-buckets-taken-by-time"],
    make: (draw, manager) => {
      const by = durationText(draw.fork("by").integer(500, 6_000));
      const components = [draw.fork("who").pick(["sharding", "sharding", "informers", "job-controller"])];
      return { ...drawDuration(draw), apiServerSlow: { by, components, controllerManager: manager } };
    },
  },
  {
    kind: "requestFails",
    weight: 10,
    because: ["shard-buckets-taken-by-time"],
    make: (draw, manager) => ({
      ...drawDuration(draw),
      requestFails: {
        components: ["sharding"],
        controllerManager: manager,
        resources: ["leases"],
        ...draw.fork("how").pick([
          { with: 500, times: draw.fork("times").integer(1, 6) },
          { with: "timeout", times: draw.fork("times").integer(1, 3) },
          { with: "timeout", effect: "kept", times: draw.fork("times").integer(1, 3) },
          { with: 409, times: draw.fork("times").integer(1, 3) },
        ] as const),
      },
    }),
  },
  {
    kind: "requestFails",
    weight: 12,
    because: [],
    make: (draw, manager) => ({
      ...drawDuration(draw),
      requestFails: {
        components: ["sharding"],
        ...(draw.fork("whose").chance(0.5) ? { controllerManager: manager } : {}),
        verbs: ["update"],
        resources: ["configmaps"],
        times: draw.fork("times").integer(1, 5),
        ...draw.fork("how").pick([{ with: 409 }, { with: 409 }, { with: 504, effect: "kept" }, { with: 503 }] as const),
      },
    }),
  },
  {
    kind: "requestFails",
    weight: 6,
    because: ["shard-release-before-outcomes"],
    make: (draw, manager) => ({
      ...drawDuration(draw),
      requestFails: {
        components: [draw.fork("who").pick(["job-controller", "cronjob-controller"])],
        controllerManager: manager,
        verbs: ["write"],
        ...draw.fork("how").pick([
          { with: "timeout", times: 2 },
          { with: "timeout", effect: "kept", times: 2 },
          { with: 504, effect: "kept", times: 2 },
        ] as const),
      },
    }),
  },
];

const CACHE_FAULTS: readonly ShardingFaultGenerator[] = [
  {
    kind: "staleCache",
    weight: 8,
    because: [],
    make: (draw) => ({
      ...drawDuration(draw),
      staleCache: { kind: draw.fork("kind").pick(["Job", "Pod", "CronJob", "Namespace"]), controller: "informers" },
    }),
  },
  {
    kind: "staleList",
    weight: 12,
    because: ["shard-list-before-barrier"],
    make: (draw) => ({
      ...drawDuration(draw),
      staleList: { controller: "informers", by: durationText(draw.fork("by").integer(1_000, 30_000)) },
    }),
  },
  {
    kind: "watchSilent",
    weight: 4,
    because: [],
    make: (draw) => ({ ...drawDuration(draw), watchSilent: { controller: "sharding" } }),
  },
  { kind: "watchCut", weight: 4, because: [], make: () => ({ watchCut: { controller: "informers" } }) },
];

export const SHARDING_ROWS: readonly ShardingFaultGenerator[] = [...MEMBER_FAULTS, ...REQUEST_FAULTS, ...CACHE_FAULTS];
