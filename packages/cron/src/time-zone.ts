import { locateTimeZone } from "./time-zone-location.js";

/** The length of one part of a zone's table: a little over two years. Seconds. */
const BLOCK = 2 ** 26;
/**
 * Offset changes that take each other back within this time are not seen. The briefest known are just under a week (Brazil
 * in October 2000, Gaza in October 2040). Seconds.
 */
const SAMPLE = 3 * 86_400;
/** Parts of the table kept at a time: two thousand years. */
const MAX_CACHED_BLOCKS = 1024;
/** The last second a JavaScript `Date` can hold. */
export const LAST_SECOND = 8.64e12;

/** Part of a zone's table: `offsets[i]` holds from `starts[i]` to the next start. `starts[0]` is where the part begins. */
interface Block {
  readonly starts: number[];
  readonly offsets: number[];
  readonly end: number;
}

/** An instant at which a zone's offset from UTC changes. Seconds. */
export interface Transition {
  readonly at: number;
  readonly offsetBefore: number;
  readonly offsetAfter: number;
}

/**
 * The offsets of one time zone, taken from the runtime's zone data when first needed and kept.
 *
 * Everything is in whole seconds since the epoch; a wall time is given as if it were UTC.
 */
export class TimeZone {
  readonly name: string;
  /** Made when first needed: it is 20 KB outside the heap, and whoever only checks a name needs none. */
  #format: Intl.DateTimeFormat | undefined;
  readonly #blocks = new Map<number, Block>();
  // The stretch that was asked for last: the next question is nearly always about the same one.
  #from = 0;
  #until = 0;
  #offset = 0;

  /** @param name - A name that `Intl` knows; not checked here, see {@link TimeZoneCache}. */
  constructor(name: string) {
    this.name = name;
    if (name !== "UTC") return;
    this.#from = -Infinity;
    this.#until = Infinity;
  }

  /** Seconds east of UTC at an instant. */
  offsetAt(instant: number): number {
    if (instant < this.#from || instant >= this.#until) this.#seek(instant);
    return this.#offset;
  }

  /** The wall time at an instant. */
  wallAt(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /** An instant after the given one up to which the offset is sure not to change. Not always the next change itself. */
  offsetValidUntil(instant: number): number {
    this.offsetAt(instant);
    return this.#until;
  }

  /**
   * The instant of a wall time.
   *
   * Of a wall time that comes twice it is the first in zones west of UTC and the second in zones east of it; one that is
   * skipped moves by the gap, back in the west and on in the east.
   *
   * @see go src/time/time.go Date
   */
  instantOf(wall: number): number {
    return wall - this.offsetAt(wall - this.offsetAt(wall));
  }

  /** The changes of offset after `from`, up to and including `to`. */
  transitions(from: number, to: number): Transition[] {
    const found: Transition[] = [];
    for (let at = this.offsetValidUntil(from); at <= to; at = this.offsetValidUntil(at)) {
      const offsetBefore = this.offsetAt(at - 1);
      const offsetAfter = this.offsetAt(at);
      if (offsetBefore !== offsetAfter) found.push({ at, offsetBefore, offsetAfter });
    }
    return found;
  }

  #seek(instant: number): void {
    const index = Math.floor(instant / BLOCK);
    let block = this.#blocks.get(index);
    if (block === undefined) {
      if (this.#blocks.size >= MAX_CACHED_BLOCKS) this.#blocks.clear();
      block = this.#readBlock(index * BLOCK);
      this.#blocks.set(index, block);
    }
    let interval = block.starts.length - 1;
    while (interval > 0 && block.starts[interval]! > instant) interval--;
    this.#from = block.starts[interval]!;
    this.#until = block.starts[interval + 1] ?? block.end;
    this.#offset = block.offsets[interval]!;
  }

  #readBlock(start: number): Block {
    const end = start + BLOCK;
    let last = start;
    let offset = this.#readOffset(start);
    const block: Block = { starts: [start], offsets: [offset], end };
    while (last < end - 1) {
      const next = Math.min(last + SAMPLE, end - 1);
      const offsetNext = this.#readOffset(next);
      // A sample apart there may be two changes; each round finds the end of a stretch that has the offset at `last`.
      while (offset !== offsetNext) {
        let before = last;
        let after = next;
        while (after - before > 1) {
          const middle = before + Math.floor((after - before) / 2);
          if (this.#readOffset(middle) === offset) before = middle;
          else after = middle;
        }
        last = after;
        offset = this.#readOffset(after);
        block.starts.push(after);
        block.offsets.push(offset);
      }
      last = next;
    }
    return block;
  }

  #readOffset(instant: number): number {
    this.#format ??= new Intl.DateTimeFormat("en-US", { timeZone: this.name, timeZoneName: "longOffset" });
    const text = this.#format.format(Math.max(-LAST_SECOND, Math.min(LAST_SECOND, instant)) * 1000);
    // "7/23/1811, GMT-04:27:44", or plain "GMT" for no offset.
    const match = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(text);
    if (match === null) return 0;
    const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return match[1] === "-" ? -seconds : seconds;
  }
}

/**
 * Loads time zones, each one once. Schedules that are given the same cache share its tables; reading one year of a zone
 * takes the runtime about 0.1 ms.
 */
export class TimeZoneCache {
  readonly #zones = new Map<string, TimeZone>();

  /** @returns The zone that a name leads to (empty: UTC), or undefined if it leads to none: see `timeZoneError`. */
  get(name: string): TimeZone | undefined {
    // Names that lead to the same zone share it, so that there are never more than there are zones.
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const location = name === "Local" ? undefined : locateTimeZone(name);
    if (location === undefined || "error" in location) return undefined;
    let zone = this.#zones.get(location.zone);
    if (zone === undefined) {
      zone = new TimeZone(location.zone);
      this.#zones.set(location.zone, zone);
    }
    return zone;
  }
}
