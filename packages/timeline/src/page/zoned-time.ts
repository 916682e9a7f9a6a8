/** Converts times to the local time of one zone. */
export class ZonedTime {
  readonly zone: string;
  readonly #parts: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  constructor(zone: string) {
    this.zone = zone;
    this.#parts = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  }

  /**
   * Returns the offset of the zone from UTC in milliseconds. Zones change their offsets only at whole quarters of an
   * hour.
   */
  offsetMs(atMs: number): number {
    const quarter = Math.floor(atMs / QUARTER_MS);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const fields: Record<string, number> = {};
    for (const { type, value } of this.#parts.formatToParts(quarter * QUARTER_MS)) fields[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - quarter * QUARTER_MS;
    if (this.#offsets.size > MAX_OFFSETS) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  /** Returns a date whose UTC fields are the zone's local time. */
  wall(atMs: number): Date {
    return new Date(atMs + this.offsetMs(atMs));
  }

  /** Returns the instant of a local time: the first of two, or `undefined` when the local time does not exist. */
  instant(wallMs: number): number | undefined {
    const guess = wallMs - this.offsetMs(wallMs);
    // No zone changes its clocks twice within a day.
    for (const near of [guess - DAY_MS / 2, guess + DAY_MS / 2]) {
      const atMs = wallMs - this.offsetMs(near);
      if (atMs + this.offsetMs(atMs) === wallMs) return atMs;
    }
    return undefined;
  }

  /** `2026-03-29 02:30` */
  minute(atMs: number): string {
    return this.wall(atMs).toISOString().slice(0, 16).replace("T", " ");
  }

  /** `2026-03-29 02:30:00` */
  second(atMs: number): string {
    return this.wall(atMs).toISOString().slice(0, 19).replace("T", " ");
  }

  /** Returns the clock changes of the zone within a window. */
  transitions(fromMs: number, toMs: number): Transition[] {
    const found: Transition[] = [];
    for (let from = fromMs; from < toMs; from += DAY_MS) {
      const to = Math.min(toMs, from + DAY_MS);
      const before = this.offsetMs(from);
      const after = this.offsetMs(to);
      if (before === after) continue;
      let low = Math.floor(from / QUARTER_MS);
      let high = Math.floor(to / QUARTER_MS);
      while (high - low > 1) {
        const middle = (low + high) >>> 1;
        if (this.offsetMs(middle * QUARTER_MS) === before) low = middle;
        else high = middle;
      }
      found.push({ zone: this.zone, atMs: high * QUARTER_MS, beforeMs: before, afterMs: after });
    }
    return found;
  }
}

/** A clock change of a zone. */
export interface Transition {
  readonly zone: string;
  readonly atMs: number;
  /** Offsets from UTC before and after the change. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
/** Number of quarters of an hour in about a year. */
const MAX_OFFSETS = 40_000;

/** `+01:00` */
export function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000;
  const two = (number: number): string => String(Math.floor(number)).padStart(2, "0");
  return `${offsetMs < 0 ? "−" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/**
 * Returns the zones that the page offers: UTC, those of the CronJobs, and the reader's zone. Unknown zones are omitted.
 */
export function offeredZones(wanted: readonly string[]): string[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = new Set(["UTC"]);
  for (const zone of [...wanted, own]) if (!["Etc/UTC", "Z", "GMT"].includes(zone) && isZone(zone)) zones.add(zone);
  return [...zones];
}

export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
