import { locateTimeZone } from "./time-zone-location.js";

/** Length of one block of a zone's offset table in seconds: a little over two years. */
const BLOCK = 2 ** 26;
/**
 * Sampling interval in seconds. Offset changes that revert within this interval are not detected. The shortest known
 * ones last just under a week (Brazil in October 2000, Gaza in October 2040).
 */
const SAMPLE = 3 * 86_400;
/** Maximum number of cached blocks: two thousand years. */
const MAX_CACHED_BLOCKS = 1024;
/** The last second that a JavaScript `Date` can hold. */
export const LAST_SECOND = 8.64e12;

/**
 * One block of a zone's offset table: `offsets[i]` applies from `starts[i]` to the next start. `starts[0]` is the start
 * of the block.
 */
interface Block {
  readonly starts: number[];
  readonly offsets: number[];
  readonly end: number;
}

/** An instant at which a zone's offset from UTC changes. In seconds. */
export interface Transition {
  readonly at: number;
  readonly offsetBefore: number;
  readonly offsetAfter: number;
}

/**
 * The offsets of one time zone, read from the runtime's zone data on demand and cached.
 *
 * All values are whole seconds since the epoch. A wall time is encoded as if it were UTC.
 */
export class TimeZone {
  readonly name: string;
  /** Created on demand: it takes 20 KB outside the heap, and checking a name does not need it. */
  #format: Intl.DateTimeFormat | undefined;
  readonly #blocks = new Map<number, Block>();
  // The last interval that was queried. The next query is nearly always in the same one.
  #from = 0;
  #until = 0;
  #offset = 0;

  /** @param name - A name that `Intl` accepts; not checked here, see {@link TimeZoneCache}. */
  constructor(name: string) {
    this.name = name;
    if (name !== "UTC") return;
    this.#from = -Infinity;
    this.#until = Infinity;
  }

  /** Returns the seconds east of UTC at an instant. */
  offsetAt(instant: number): number {
    if (instant < this.#from || instant >= this.#until) this.#seek(instant);
    return this.#offset;
  }

  /** Returns the wall time at an instant. */
  wallAt(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /**
   * Returns an instant after the given one until which the offset does not change. Can be earlier than the next change.
   */
  offsetValidUntil(instant: number): number {
    this.offsetAt(instant);
    return this.#until;
  }

  /**
   * Returns the instant of a wall time.
   *
   * For a wall time that occurs twice: the first instant in zones west of UTC, the second in zones east of it. A
   * skipped wall time is shifted by the gap: back in zones west of UTC, forward in zones east of it.
   *
   * @see go src/time/time.go Date
   */
  instantOf(wall: number): number {
    return wall - this.offsetAt(wall - this.offsetAt(wall));
  }

  /** Returns the offset changes after `from`, up to and including `to`. */
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
      // There can be two changes between two samples. Each round finds the end of the interval that has the offset at
      // `last`.
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
 * Loads each time zone once. Schedules with the same cache share its tables. Reading one year of a zone takes the
 * runtime about 0.1 ms.
 */
export class TimeZoneCache {
  readonly #zones = new Map<string, TimeZone>();

  /** @returns The zone that a name refers to (empty: UTC), or `undefined` if there is none; see `timeZoneError`. */
  get(name: string): TimeZone | undefined {
    // Names of the same zone share one object, so the cache never has more zones than the database.
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
