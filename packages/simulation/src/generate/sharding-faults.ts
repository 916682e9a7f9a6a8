import {
  type ScenarioEventEntry,
  type ScenarioEventMap,
  type ShardingFaultKind,
  definitionOf,
} from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { at, during } from "./plan-events.js";

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
    const { kind, value } = fork.fork("way").weighted(ways);
    const what = fork.fork("what");
    const lasts = definitionOf(kind)?.lasts === undefined ? {} : drawDuration(what);
    return at(atMs, { ...lasts, [kind]: value(what, manager) });
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
    const what = { [fork.fork("way").pick(ways)]: `controller-manager-${(number % managers) + 1}` };
    return during(EARLIEST_MS + (number + 1) * everyMs, fork.fork("for").integer(500, 15_000), what);
  });
}

/** A row of the table of faults: one kind of event, and how its value is drawn. */
interface ShardingFaultRow<Kind extends keyof ScenarioEventMap = keyof ScenarioEventMap> {
  readonly kind: Kind & ShardingFaultKind;
  readonly weight: number;
  /** Mutants that it catches sooner, or issues of Kubernetes. */
  readonly because: readonly string[];
  readonly value: (draw: Draw, manager: string) => ScenarioEventMap[Kind];
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

const theManager = (_draw: Draw, manager: string): string => manager;

const row = <Kind extends keyof ScenarioEventMap>(
  kind: Kind & ShardingFaultKind,
  weight: number,
  because: readonly string[],
  value: ShardingFaultRow<Kind>["value"],
): ShardingFaultRow => ({ kind, weight, because, value });

export const SHARDING_ROWS: readonly ShardingFaultRow[] = [
  row("controllerDown", 20, [], theManager),
  row("shutdown", 20, ["shard-release-before-outcomes"], theManager),
  row("paused", 20, ["shard-fence-missing"], theManager),
  row("leaseLost", 12, ["shard-fence-missing"], theManager),
  row("clockSkew", 6, [], (draw, controllerManager) => {
    const byMs = draw.fork("by").pick([1_000, 3_000, 30_000, 3_600_000]);
    return { controllerManager, by: `${draw.fork("sign").pick(["+", "-"])}${durationText(byMs)}` };
  }),
  row("apiServerSlow", 8, ["shard-buckets-taken-by-time"], (draw, controllerManager) => {
    const by = durationText(draw.fork("by").integer(500, 6_000));
    const components = [draw.fork("who").pick(["sharding", "sharding", "informers", "job-controller"])];
    return { by, components, controllerManager };
  }),
  row("requestFails", 10, ["shard-buckets-taken-by-time"], (draw, controllerManager) => ({
    components: ["sharding"],
    controllerManager,
    resources: ["leases"],
    ...draw.fork("how").pick([
      { with: 500, times: draw.fork("times").integer(1, 6) },
      { with: "timeout", times: draw.fork("times").integer(1, 3) },
      { with: "timeout", effect: "kept", times: draw.fork("times").integer(1, 3) },
      { with: 409, times: draw.fork("times").integer(1, 3) },
    ] as const),
  })),
  row("requestFails", 12, [], (draw, controllerManager) => ({
    components: ["sharding"],
    ...(draw.fork("whose").chance(0.5) ? { controllerManager } : {}),
    verbs: ["update"],
    resources: ["configmaps"],
    times: draw.fork("times").integer(1, 5),
    ...draw.fork("how").pick([{ with: 409 }, { with: 409 }, { with: 504, effect: "kept" }, { with: 503 }] as const),
  })),
  row("requestFails", 6, ["shard-release-before-outcomes"], (draw, controllerManager) => ({
    components: [draw.fork("who").pick(["job-controller", "cronjob-controller"])],
    controllerManager,
    verbs: ["write"],
    ...draw.fork("how").pick([
      { with: "timeout", times: 2 },
      { with: "timeout", effect: "kept", times: 2 },
      { with: 504, effect: "kept", times: 2 },
    ] as const),
  })),
  row("staleCache", 8, [], (draw) => ({
    kind: draw.fork("kind").pick(["Job", "Pod", "CronJob", "Namespace"]),
    controller: "informers",
  })),
  row("staleList", 12, ["shard-list-before-barrier"], (draw) => ({
    controller: "informers",
    by: durationText(draw.fork("by").integer(1_000, 30_000)),
  })),
  row("watchSilent", 4, [], () => ({ controller: "sharding" })),
  row("watchCut", 4, [], () => ({ controller: "informers" })),
];
