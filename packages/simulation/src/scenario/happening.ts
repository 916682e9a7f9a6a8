import type { UnstructuredObject } from "@kubewright/api";

import { type HappeningEntry, type HappeningKind, type Happenings, LASTING } from "./scenario-file.js";
import { durationOf, happeningTime } from "./scenario-times.js";

/** An object of a scenario, with whatever else is known of it. */
export interface ScenarioObject {
  readonly object: UnstructuredObject;
}

/** One thing that happens. */
export type Happening<Played extends ScenarioObject = ScenarioObject> = {
  [Kind in HappeningKind]: {
    readonly kind: Kind;
    readonly value: Happenings[Kind];
    readonly atMs: number;
    /** When it ends by itself. */
    readonly untilMs: number | undefined;
    /** When it is known to be over, by itself or by another happening. */
    readonly overMs: number | undefined;
    /** Of `apply`. */
    readonly objects: readonly Played[];
    /** Where it is written. */
    readonly place: string;
  };
}[HappeningKind];

/** What is not written in the entries themselves. */
export interface HappeningSources<Played extends ScenarioObject> {
  readonly startMs: number;
  /** What the entry applies. */
  readonly objectsOf: (index: number) => readonly Played[];
  readonly placeOf: (index: number) => string;
}

/** The happenings of a scenario that has been checked, in its order. */
export function happeningsOf<Played extends ScenarioObject>(
  entries: readonly HappeningEntry[],
  { startMs, objectsOf, placeOf }: HappeningSources<Played>,
): Happening<Played>[] {
  return entries.map((entry, index) => {
    const kind = kindOf(entry)!;
    const atMs = happeningTime(entry.at, startMs);
    const lasting = LASTING[kind];
    const length = entry.for ?? (typeof lasting === "object" ? lasting.byDefault : undefined);
    const untilMs = length === undefined ? undefined : atMs + durationOf(length);
    const overMs = untilMs ?? (kind === "controllerDown" ? nextStart(entry, entries, startMs, atMs) : undefined);
    const happening = { kind, value: entry[kind], atMs, untilMs, overMs };
    // The kind and the value belong together by construction.
    return { ...happening, objects: objectsOf(index), place: placeOf(index) } as Happening<Played>;
  });
}

/** The one thing an entry says happens; `undefined` when it says none, or several. */
export function kindOf(entry: HappeningEntry): HappeningKind | undefined {
  const kinds = Object.keys(entry).filter((key): key is HappeningKind => key !== "at" && key !== "for");
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** When a controller that was killed is started again by a happening of its own. */
function nextStart(
  { controllerDown }: HappeningEntry,
  all: readonly HappeningEntry[],
  startMs: number,
  atMs: number,
): number | undefined {
  const starts = all
    .filter(
      ({ controllerUp }) => controllerUp !== undefined && (controllerUp === "all" || controllerUp === controllerDown),
    )
    .map(({ at }) => happeningTime(at, startMs))
    .filter((timeMs) => timeMs > atMs);
  return starts.length === 0 ? undefined : Math.min(...starts);
}
