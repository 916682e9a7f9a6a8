import type { HappeningEntry, HappeningKind } from "../scenario/scenario-file.js";
import type { Draw } from "./draw.js";
import { durationText, offsetText } from "./duration-text.js";
import type { FaultKind } from "./fault-kind.js";

/** What may go wrong only between managers that share work. */
export const SHARDING_FAULT_KINDS = ["toldToEnd"] as const satisfies readonly HappeningKind[];

export type ShardingFaultKind = FaultKind | (typeof SHARDING_FAULT_KINDS)[number];

export interface SharingGround {
  readonly faults: readonly ShardingFaultKind[];
  readonly managers: number;
  /** Until when a fault may begin, in milliseconds from the start. */
  readonly windowMs: number;
}

/** Nobody has a bucket before. */
const EARLIEST_MS = 16_000;

/**
 * Three to ten things that happen to managers that share work: they die, end in order, come later, stand still, cannot renew their
 * Leases or only slowly, are refused the assignment, have wrong clocks, or hear nothing new. All of them come to an end.
 */
export function drawSharingFaults(draw: Draw, { faults, managers, windowMs }: SharingGround): HappeningEntry[] {
  const ways = WAYS.filter(({ kind }) => faults.includes(kind)).map((way) => [way, way.weight] as const);
  if (ways.length === 0) return [];
  const restarts = draw.fork("restless").chance(0.5) ? drawRestarts(draw.fork("restarts"), { faults, managers }) : [];
  const count = draw.fork("count").whole(3, 10);
  const others = Array.from({ length: count }, (_, number) => {
    const lots = draw.fork(String(number));
    const manager = `controller-manager-${lots.fork("manager").whole(1, managers)}`;
    const atMs = lots.fork("at").whole(EARLIEST_MS, Math.max(EARLIEST_MS, windowMs));
    return { at: offsetText(atMs), ...lots.fork("way").weighted(ways).make(lots.fork("what"), manager) };
  });
  return [...restarts, ...others];
}

/**
 * One manager after the other ends and is there again, in order or not: each time its buckets go to the others, and when these have
 * been the same for half a minute some of theirs go to it.
 */
function drawRestarts(draw: Draw, { faults, managers }: Pick<SharingGround, "faults" | "managers">): HappeningEntry[] {
  const ways = (["toldToEnd", "controllerDown"] as const).filter((way) => faults.includes(way));
  if (ways.length === 0) return [];
  const everyMs = draw.fork("every").whole(40_000, 75_000);
  return Array.from({ length: draw.fork("count").whole(4, 9) }, (_, number) => {
    const lots = draw.fork(String(number));
    return {
      at: offsetText(EARLIEST_MS + (number + 1) * everyMs),
      for: durationText(lots.fork("for").whole(500, 15_000)),
      [lots.fork("way").pick(ways)]: `controller-manager-${(number % managers) + 1}`,
    };
  });
}

interface Way {
  readonly kind: ShardingFaultKind;
  readonly weight: number;
  readonly make: (draw: Draw, manager: string) => Omit<HappeningEntry, "at">;
}

/** Around what members wait for: a renewal (2 s), the renew deadline (8 s), a lease (15 s), the time until buckets move (30 s). */
function length(draw: Draw): { readonly for: string } {
  const [from, to] = draw.fork("for about").pick([
    [200, 3_000],
    [3_000, 9_000],
    [9_000, 20_000],
    [20_000, 70_000],
  ] as const);
  return { for: durationText(draw.fork("for").whole(from, to)) };
}

const OF_MEMBERS: readonly Way[] = [
  { kind: "controllerDown", weight: 20, make: (draw, manager) => ({ ...length(draw), controllerDown: manager }) },
  { kind: "toldToEnd", weight: 20, make: (draw, manager) => ({ ...length(draw), toldToEnd: manager }) },
  { kind: "paused", weight: 20, make: (draw, manager) => ({ ...length(draw), paused: manager }) },
  { kind: "leaseLost", weight: 12, make: (draw, manager) => ({ ...length(draw), leaseLost: manager }) },
  {
    kind: "clockSkew",
    weight: 6,
    make: (draw, manager) => {
      const byMs = draw.fork("by").pick([1_000, 3_000, 30_000, 3_600_000]);
      const by = `${draw.fork("sign").pick(["+", "-"])}${durationText(byMs)}`;
      return { ...length(draw), clockSkew: { controllerManager: manager, by } };
    },
  },
];

const OF_REQUESTS: readonly Way[] = [
  {
    kind: "apiServerSlow",
    weight: 8,
    make: (draw, manager) => {
      const by = durationText(draw.fork("by").whole(500, 6_000));
      const components = [draw.fork("who").pick(["sharding", "sharding", "informers", "job-controller"])];
      return { ...length(draw), apiServerSlow: { by, components, controllerManager: manager } };
    },
  },
  {
    kind: "requestFails",
    weight: 10,
    make: (draw, manager) => ({
      ...length(draw),
      requestFails: {
        components: ["sharding"],
        controllerManager: manager,
        resources: ["leases"],
        ...draw.fork("how").pick([
          { with: 500, times: draw.fork("times").whole(1, 6) },
          { with: "timeout", times: draw.fork("times").whole(1, 3) },
          { with: "timeout", effect: "kept", times: draw.fork("times").whole(1, 3) },
          { with: 409, times: draw.fork("times").whole(1, 3) },
        ] as const),
      },
    }),
  },
  {
    kind: "requestFails",
    weight: 12,
    make: (draw, manager) => ({
      ...length(draw),
      requestFails: {
        components: ["sharding"],
        ...(draw.fork("whose").chance(0.5) ? { controllerManager: manager } : {}),
        verbs: ["update"],
        resources: ["configmaps"],
        times: draw.fork("times").whole(1, 5),
        ...draw.fork("how").pick([{ with: 409 }, { with: 409 }, { with: 504, effect: "kept" }, { with: 503 }] as const),
      },
    }),
  },
  {
    kind: "requestFails",
    weight: 6,
    make: (draw, manager) => ({
      ...length(draw),
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

const OF_CACHES: readonly Way[] = [
  {
    kind: "staleCache",
    weight: 8,
    make: (draw) => ({
      ...length(draw),
      staleCache: { kind: draw.fork("kind").pick(["Job", "Pod", "CronJob", "Namespace"]), controller: "informers" },
    }),
  },
  {
    kind: "staleList",
    weight: 12,
    make: (draw) => ({
      ...length(draw),
      staleList: { controller: "informers", by: durationText(draw.fork("by").whole(1_000, 30_000)) },
    }),
  },
  { kind: "watchSilent", weight: 4, make: (draw) => ({ ...length(draw), watchSilent: { controller: "sharding" } }) },
  { kind: "watchCut", weight: 4, make: () => ({ watchCut: { controller: "informers" } }) },
];

const WAYS: readonly Way[] = [...OF_MEMBERS, ...OF_REQUESTS, ...OF_CACHES];
