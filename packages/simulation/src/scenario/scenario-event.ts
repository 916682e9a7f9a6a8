import type { UnstructuredObject } from "@kubewright/api";

import {
  type ScenarioEventEntry,
  type ScenarioEventKind,
  type ScenarioEventMap,
  definitionOf,
  kindOf,
} from "../faults/registry.js";
import { durationOf, scenarioEventTime } from "./scenario-times.js";

/** An object of a scenario; subtypes add what else is known of it. */
export interface ScenarioObject {
  readonly object: UnstructuredObject;
}

/** An event of a scenario. */
export type ScenarioEvent<Simulated extends ScenarioObject = ScenarioObject> = {
  [Kind in ScenarioEventKind]: {
    readonly kind: Kind;
    readonly value: ScenarioEventMap[Kind];
    readonly atMs: number;
    /** When it ends by itself. */
    readonly untilMs: number | undefined;
    /** When it is known to be over: by itself or by another event. */
    readonly overMs: number | undefined;
    /** Objects that an `apply` event applies. */
    readonly objects: readonly Simulated[];
    /** Its location in the file. */
    readonly place: string;
  };
}[ScenarioEventKind];

/** Data of events that the entries themselves do not contain. */
export interface ScenarioEventSources<Simulated extends ScenarioObject> {
  readonly startMs: number;
  /** Returns the objects that the entry applies. */
  readonly objectsOf: (index: number) => readonly Simulated[];
  readonly placeOf: (index: number) => string;
}

/** Returns the events of a checked scenario, in its order. */
export function scenarioEventsOf<Simulated extends ScenarioObject>(
  entries: readonly ScenarioEventEntry[],
  { startMs, objectsOf, placeOf }: ScenarioEventSources<Simulated>,
): ScenarioEvent<Simulated>[] {
  return entries.map((entry, index) => {
    const kind = kindOf(entry)!;
    const atMs = scenarioEventTime(entry.at, startMs);
    const { lasts } = definitionOf(kind);
    const length = entry.for ?? (typeof lasts === "object" ? lasts.byDefault : undefined);
    const untilMs = length === undefined ? undefined : atMs + durationOf(length);
    const overMs = untilMs ?? (kind === "controllerDown" ? nextStart(entry, entries, startMs, atMs) : undefined);
    const scenarioEvent = { kind, value: entry[kind], atMs, untilMs, overMs };
    // The kind and the value belong together by construction.
    return { ...scenarioEvent, objects: objectsOf(index), place: placeOf(index) } as ScenarioEvent<Simulated>;
  });
}

/** Returns when a separate event restarts a killed controller. */
function nextStart(
  { controllerDown }: ScenarioEventEntry,
  all: readonly ScenarioEventEntry[],
  startMs: number,
  atMs: number,
): number | undefined {
  const starts = all
    .filter(
      ({ controllerUp }) => controllerUp !== undefined && (controllerUp === "all" || controllerUp === controllerDown),
    )
    .map(({ at }) => scenarioEventTime(at, startMs))
    .filter((timeMs) => timeMs > atMs);
  return starts.length === 0 ? undefined : Math.min(...starts);
}
