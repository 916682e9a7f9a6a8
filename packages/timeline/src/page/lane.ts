import { type Item, LOOKS, type Look } from "./item.js";

/** An interval covered by one or more bars of one look. `item` is set for a single bar. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly item: Item | undefined;
}

/** Bars of one look, sorted by start, with an index for finding the visible ones. */
class Track {
  readonly items: readonly Item[];
  readonly #starts: Float64Array;
  /** The latest end among each bar and all bars before it. */
  readonly #reach: Float64Array;

  constructor(items: readonly Item[]) {
    this.items = items;
    this.#starts = Float64Array.from(items, ({ startMs }) => startMs);
    this.#reach = Float64Array.from(items, ({ endMs }) => endMs);
    for (let index = 1; index < items.length; index++)
      this.#reach[index] = Math.max(this.#reach[index]!, this.#reach[index - 1]!);
  }

  /**
   * Yields the spans to paint between two times. Bars that begin within `grainMs` of one another become one span, found
   * by binary search. The work therefore grows with the number of pixels, not of bars.
   */
  *spans(fromMs: number, toMs: number, grainMs: number): Generator<Span> {
    let index = lowerBound(this.#reach, fromMs);
    while (index < this.items.length && this.#starts[index]! <= toMs) {
      const startMs = this.#starts[index]!;
      const next = Math.max(index + 1, lowerBound(this.#starts, startMs + grainMs, index));
      const single = next === index + 1 ? this.items[index]! : undefined;
      yield { fromMs: startMs, toMs: single?.endMs ?? this.#reach[next - 1]!, item: single };
      index = next;
    }
  }

  /** Returns the bar at a time, or the nearest one that begins or ends within the tolerance. */
  nearest(atMs: number, toleranceMs: number): { item: Item; distanceMs: number } | undefined {
    let best: { item: Item; distanceMs: number } | undefined;
    // Among thousands of bars with the same start, single bars can be selected only after zooming in.
    const first = lowerBound(this.#reach, atMs - toleranceMs);
    const last = lowerBound(this.#starts, atMs + toleranceMs);
    for (let index = Math.max(first, last - MAX_CANDIDATES); index < last; index++) {
      const item = this.items[index]!;
      const distanceMs = Math.max(0, item.startMs - atMs, atMs - item.endMs);
      if (distanceMs <= toleranceMs && (best === undefined || distanceMs <= best.distanceMs))
        best = { item, distanceMs };
    }
    return best;
  }

  /** Returns the number of bars that begin in the half-open interval [fromMs, toMs). */
  countBetween(fromMs: number, toMs: number): number {
    const first = lowerBound(this.#starts, fromMs);
    return lowerBound(this.#starts, toMs, first) - first;
  }

  /** Returns the start of the next bar after a time. */
  startAfter(atMs: number): number {
    return this.#starts[lowerBound(this.#starts, atMs + 1)] ?? Infinity;
  }
}

const MAX_CANDIDATES = 2_000;

/** One line of bars. */
export class Lane {
  /** Sorted by start. */
  readonly items: readonly Item[];
  /** Whether the lane has marks at due times instead of bars with durations. */
  readonly isOfMoments: boolean;
  readonly #starts: Float64Array;
  readonly #tracks = new Map<Look, Track>();

  /** @param items - Sorted by start. */
  constructor(items: readonly Item[]) {
    this.items = items;
    this.isOfMoments = items.every(({ type, startMs, endMs }) => type === "ghost" || startMs === endMs);
    this.#starts = Float64Array.from(items, ({ startMs }) => startMs);
    for (const look of LOOKS) {
      const track = items.filter((item) => item.look === look);
      if (track.length > 0) this.#tracks.set(look, new Track(track));
    }
  }

  /** Yields the spans of one look to paint; see {@link Track.spans}. */
  spans(look: Look, fromMs: number, toMs: number, grainMs: number): Iterable<Span> {
    return this.#tracks.get(look)?.spans(fromMs, toMs, grainMs) ?? [];
  }

  /** Returns the number of items of one look that begin in the half-open interval [fromMs, toMs). */
  countBetween(look: Look, fromMs: number, toMs: number): number {
    return this.#tracks.get(look)?.countBetween(fromMs, toMs) ?? 0;
  }

  /** Returns the entry of this lane for an item: the item itself, or for a run the mark of its slot. */
  find(item: Item): Item | undefined {
    const slotMs = item.type === "run" ? item.row.slotMs : undefined;
    for (const startMs of slotMs === undefined ? [item.startMs] : [item.startMs, slotMs]) {
      for (let index = lowerBound(this.#starts, startMs); this.#starts[index] === startMs; index++)
        if (this.items[index]!.id === item.id) return this.items[index];
    }
    return undefined;
  }

  /** Returns the bar at a time; the topmost one where bars overlap. */
  hit(atMs: number, toleranceMs: number): Item | undefined {
    let best: { item: Item; distanceMs: number } | undefined;
    for (const look of LOOKS) {
      const found = this.#tracks.get(look)?.nearest(atMs, toleranceMs);
      if (found !== undefined && (best === undefined || found.distanceMs <= best.distanceMs)) best = found;
    }
    return best?.item;
  }

  /** Returns the start of the next bar of any look after a time. */
  startAfter(atMs: number): number {
    let nearest = Infinity;
    for (const track of this.#tracks.values()) nearest = Math.min(nearest, track.startAfter(atMs));
    return nearest;
  }
}

/** Returns the first index whose value is at least `value`, in an ascending list. */
export function lowerBound(values: ArrayLike<number>, value: number, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Distributes overlapping items over up to `maxLanes` lanes. The last lane takes the rest, with overlaps. */
export function packLanes(items: readonly Item[], maxLanes: number): Lane[] {
  const packed: Item[][] = [];
  for (const item of items) {
    const free =
      packed.find((lane) => lane.at(-1)!.endMs <= item.startMs) ??
      (packed.length < maxLanes ? undefined : packed.at(-1));
    if (free === undefined) packed.push([item]);
    else free.push(item);
  }
  return packed.map((lane) => new Lane(lane));
}
