import type { UnstructuredObject } from "@kubewright/api";

import { type ScenarioEventEntry, type ScenarioEventKind, type ScenarioEventMap, LASTING } from "./scenario-file.js";
import { durationOf, scenarioEventTime } from "./scenario-times.js";

/** An object of a scenario, with whatever else is known of it. */
export interface ScenarioObject {
  readonly object: UnstructuredObject;
}

/** One thing that happens. */
export type ScenarioEvent<Simulated extends ScenarioObject = ScenarioObject> = {
  [Kind in ScenarioEventKind]: {
    readonly kind: Kind;
    readonly value: ScenarioEventMap[Kind];
    readonly atMs: number;
    /** When it ends by itself. */
    readonly untilMs: number | undefined;
    /** When it is known to be over, by itself or by another happening. */
    readonly overMs: number | undefined;
    /** Of `apply`. */
    readonly objects: readonly Simulated[];
    /** Where it is written. */
    readonly place: string;
  };
}[ScenarioEventKind];

/** What is not written in the entries themselves. */
export interface ScenarioEventSources<Simulated extends ScenarioObject> {
  readonly startMs: number;
  /** What the entry applies. */
  readonly objectsOf: (index: number) => readonly Simulated[];
  readonly placeOf: (index: number) => string;
}

/** The happenings of a scenario that has been checked, in its order. */
export function scenarioEventsOf<Simulated extends ScenarioObject>(
  entries: readonly ScenarioEventEntry[],
  { startMs, objectsOf, placeOf }: ScenarioEventSources<Simulated>,
): ScenarioEvent<Simulated>[] {
  return entries.map((entry, index) => {
    const kind = kindOf(entry)!;
    const atMs = scenarioEventTime(entry.at, startMs);
    const lasting = LASTING[kind];
    const length = entry.for ?? (typeof lasting === "object" ? lasting.byDefault : undefined);
    const untilMs = length === undefined ? undefined : atMs + durationOf(length);
    const overMs = untilMs ?? (kind === "controllerDown" ? nextStart(entry, entries, startMs, atMs) : undefined);
    const scenarioEvent = { kind, value: entry[kind], atMs, untilMs, overMs };
    // The kind and the value belong together by construction.
    return { ...scenarioEvent, objects: objectsOf(index), place: placeOf(index) } as ScenarioEvent<Simulated>;
  });
}

/** The one thing an entry says happens; `undefined` when it says none, or several. */
export function kindOf(entry: ScenarioEventEntry): ScenarioEventKind | undefined {
  const kinds = Object.keys(entry).filter((key): key is ScenarioEventKind => key !== "at" && key !== "for");
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** When a controller that was killed is started again by a happening of its own. */
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
