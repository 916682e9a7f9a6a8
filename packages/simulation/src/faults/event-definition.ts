import type { UnstructuredObject } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { FaultyCluster } from "@kubewright/cluster";

import type { Draw } from "../generate/draw.js";
import type { FaultTargets, RequestKind } from "../generate/request-kinds.js";
import type { ScenarioProblem } from "../scenario/problem.js";
import type { Typed } from "../scenario/schema.js";

/**
 * A kind of scenario event: a fault or a user action. The schema gives the type of its value, the check of the names in
 * it, and how the minimiser simplifies it; the other members say what is special.
 */
export interface EventDefinition<Value> {
  /** The documentation has its description. */
  readonly schema: Typed<Value>;
  /** A value for the documentation. */
  readonly example: Value;
  /** How long it lasts. Default: an instant. */
  readonly lasts?: Lasts;
  /** Whether a user does it; user actions of the same time run one after the other. */
  readonly isUserAction?: true;
  /** Whether it may concern the very first requests, so that it begins before any object exists. */
  readonly precedesRequests?: true;
  /** Whether it fits any workload, so that mutations may copy it from plan to plan. */
  readonly isGraftable?: true;
  /** Optional fields without which it is still the same event. */
  readonly omittable?: readonly string[];
  /** What it may cause, and invariants therefore permit. */
  readonly effects?: readonly Effect[] | ((value: Value) => readonly Effect[]);
  /** Share of plans that have it, from 0 to 1. Default: 0.25. */
  readonly share?: number;
  /** Returns the problems that the schema does not find; paths begin in the value. */
  check?(value: Value, cluster: CheckedCluster): readonly ScenarioProblem[];
  /** Returns what to do at its time. A fault may be active when it returns. */
  action(value: Value, run: EventRun): ScenarioAction;
  /** Draws the fault, at no certain time. Default: generated plans do not have it. */
  readonly generate?: (draw: Draw, context: GenerateContext) => readonly TimedEvent[];
  /** Draws the fault at the n-th request of a kind. */
  readonly generateAtRequest?: (draw: Draw, kind: RequestKind, nth: number) => Value;
  /** Draws the same fault at an earlier or later request. */
  retarget?(draw: Draw, value: Value): Value;
}

/**
 * Whether an event needs `for`. `untilTheEnd`: without it, the event lasts until the run ends. `untilUndone`: without
 * it, its effect stays, but is complete at once.
 */
export type Lasts = "required" | "untilTheEnd" | "untilUndone" | { readonly byDefault: string };

/**
 * An effect of an event that invariants permit.
 *
 * | Effect            | Is                                                                  |
 * | ----------------- | ------------------------------------------------------------------- |
 * | `losesPods`       | pods end that would not end otherwise                               |
 * | `losesCreations`  | a pod may exist that its creator does not know about                |
 * | `delaysCaches`    | the same, where syncs do not wait for their own writes              |
 * | `hidesPods`       | a pod may be created and deleted unobserved                         |
 * | `changesClocks`   | a controller may see past times in the future, and wait that longer |
 * | `refusesRequests` | requests fail                                                       |
 * | `returnsOldLists` | lists may be older than what was observed                           |
 * | `restarts`        | a process starts with an empty cache                                |
 */
export type Effect =
  | "changesClocks"
  | "delaysCaches"
  | "hidesPods"
  | "losesCreations"
  | "losesPods"
  | "refusesRequests"
  | "restarts"
  | "returnsOldLists";

/** The part of a scenario that checks of events refer to. */
export interface CheckedCluster {
  readonly controllerManagers: number;
  readonly isSharding: boolean;
}

export interface EventRun {
  readonly cluster: FaultyCluster;
  /** The client of the user. */
  readonly user: Client;
  /** Objects that an `apply` event applies. */
  readonly objects: readonly { readonly object: UnstructuredObject }[];
  /** Aborted at the end of the run. */
  readonly signal: AbortSignal;
}

/** What to do at a scenario event's time: how to describe it, begin it and end it. */
export interface ScenarioAction {
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Absent when the fault is active already. */
  readonly begin?: () => Promise<unknown> | void;
  readonly end?: () => Promise<unknown> | void;
}

/** What generated faults can refer to. */
export interface GenerateContext {
  /** Latest start of a fault, in milliseconds from the plan's start. */
  readonly windowMs: number;
  readonly nodes: number;
  readonly replicas: number;
  readonly targets: FaultTargets;
}

/** An event of a generated fault: its kind and value, its length, and its delay relative to the first event. */
export interface TimedEvent {
  readonly for?: string;
  readonly afterMs?: number;
  readonly [kind: string]: unknown;
}

/** Infers the type of the value from the schema. */
export function defineEvent<Value>(definition: EventDefinition<Value>): EventDefinition<Value> {
  return definition;
}
