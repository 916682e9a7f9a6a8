import { apply } from "../user-actions/apply.js";
import { deletion } from "../user-actions/delete.js";
import { patch } from "../user-actions/patch.js";
import { podEvicted } from "../user-actions/pod-evicted.js";
import { resume, suspend } from "../user-actions/suspend.js";
import { apiServerDown } from "./api-server-down.js";
import { apiServerRestart } from "./api-server-restart.js";
import { apiServerSlow } from "./api-server-slow.js";
import { clockJump } from "./clock-jump.js";
import { clockSkew } from "./clock-skew.js";
import { controllerCrashes } from "./controller-crashes.js";
import { controllerDown } from "./controller-down.js";
import { controllerUp } from "./controller-up.js";
import type { Effect, EventDefinition, Lasts } from "./event-definition.js";
import { leaseLost } from "./lease-lost.js";
import { nodeDrained } from "./node-drained.js";
import { nodeLost } from "./node-lost.js";
import { nodeTainted } from "./node-tainted.js";
import { paused } from "./paused.js";
import { requestFails } from "./request-fails.js";
import { shutdown } from "./shutdown.js";
import { staleCache } from "./stale-cache.js";
import { staleList } from "./stale-list.js";
import { watchCut } from "./watch-cut.js";
import { watchSilent } from "./watch-silent.js";

/** Faults by the name of their field in scenarios. The order influences generated plans. */
const FAULTS = {
  requestFails,
  controllerCrashes,
  controllerDown,
  paused,
  watchCut,
  watchSilent,
  staleCache,
  staleList,
  apiServerRestart,
  apiServerDown,
  apiServerSlow,
  leaseLost,
  clockJump,
  clockSkew,
  nodeLost,
  nodeDrained,
  nodeTainted,
};

/** Faults that exist only between managers that share work. */
const SHARDING_FAULTS = { shutdown };

/** Events that are no faults. */
const OTHERS = { controllerUp, podEvicted, patch, suspend, resume, delete: deletion, apply };

/** The kinds of scenario events. */
export const EVENTS = { ...FAULTS, ...SHARDING_FAULTS, ...OTHERS };

/**
 * A kind of fault, by its name in plans. Two kinds are not scenario events: `jitter` delays requests and events;
 * `phaseFlip` moves a pod out of its terminal phase, which a correct kubelet never does.
 */
export type FaultKind = keyof typeof FAULTS | "jitter" | "phaseFlip";

export const FAULT_KINDS = [...Object.keys(FAULTS), "jitter", "phaseFlip"] as readonly FaultKind[];

export type ShardingFaultKind = FaultKind | keyof typeof SHARDING_FAULTS;

/** Faults that exist only between managers that share work. */
export const SHARDING_FAULT_KINDS = Object.keys(SHARDING_FAULTS) as readonly ShardingFaultKind[];

export type ScenarioEventKind = keyof typeof EVENTS;

/** The kinds of scenario events and the types of their values. */
export type ScenarioEventMap = {
  readonly [Kind in ScenarioEventKind]: (typeof EVENTS)[Kind] extends EventDefinition<infer Value> ? Value : never;
};

/** An entry of a scenario's `events`: a time and one kind of event. */
export type ScenarioEventEntry = { readonly at: string; readonly for?: string } & Partial<ScenarioEventMap>;

export function definitionOf(kind: ScenarioEventKind): EventDefinition<unknown>;
export function definitionOf(kind: ScenarioEventKind | FaultKind): EventDefinition<unknown> | undefined;
export function definitionOf(kind: string): EventDefinition<unknown> | undefined {
  return (EVENTS as Readonly<Record<string, EventDefinition<unknown>>>)[kind];
}

/** Returns the kind of an entry; `undefined` when it has none, or several. */
export function kindOf(entry: ScenarioEventEntry): ScenarioEventKind | undefined {
  const kinds = Object.keys(entry).filter((key): key is ScenarioEventKind => key !== "at" && key !== "for");
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** Returns the effects of a plan's events. */
export function effectsOf(entries: readonly ScenarioEventEntry[] = []): ReadonlySet<Effect> {
  return new Set(
    entries.flatMap((entry) => {
      const kind = kindOf(entry);
      const { effects = [] } = kind === undefined ? {} : definitionOf(kind);
      return typeof effects === "function" ? effects(entry[kind!]) : effects;
    }),
  );
}

/** Returns the kinds of fault that always have the effect. */
export function kindsWith(effect: Effect): readonly FaultKind[] {
  return FAULT_KINDS.filter((kind) => {
    const effects = definitionOf(kind)?.effects;
    return typeof effects === "object" && effects.includes(effect);
  });
}

/** A kind of scenario event, as documentation and forms show it. */
export interface EventDescription {
  readonly kind: ScenarioEventKind;
  readonly description: string;
  readonly example: unknown;
  /** Whether it needs `for`, and how long it lasts without. Absent: it has no duration. */
  readonly lasts?: Lasts | undefined;
}

/** Returns all kinds of scenario events: faults first. */
export function describeEvents(): EventDescription[] {
  return Object.entries(EVENTS).map(([kind, { schema, example, lasts }]) => ({
    kind: kind as ScenarioEventKind,
    description: String(schema["description"]),
    example,
    lasts,
  }));
}
