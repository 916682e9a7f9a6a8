import { TimeZoneCache } from "@kubewright/cron";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/** Formats instants as the wall clock of a time zone. */
export class ZonedClock {
  readonly timeZone: string;
  readonly #offsetAt: (epochSeconds: number) => number;

  /** @param timeZone - Exact name of a zone; any other text counts as UTC. */
  constructor(timeZone: string, zones = new TimeZoneCache()) {
    const zone = zones.get(timeZone);
    this.timeZone = zone === undefined ? "UTC" : timeZone;
    this.#offsetAt = (epochSeconds) => zone?.offsetAt(epochSeconds) ?? 0;
  }

  /** Returns `Sat 2024-03-09 02:30:00 -05:00`. */
  text(timeMs: number): string {
    return `${weekday(this.#wallMs(timeMs))} ${this.#wall(timeMs).replace("T", " ")} ${this.offset(timeMs)}`;
  }

  /**
   * Returns `Sat 2024-03-09 02:30 -05:00`, with seconds unless they are 0, and `UTC` in place of the offset in that
   * zone.
   */
  brief(timeMs: number): string {
    const time = this.#wall(timeMs).replace("T", " ");
    const shown = time.endsWith(":00") ? time.slice(0, -3) : time;
    return `${weekday(this.#wallMs(timeMs))} ${shown} ${this.timeZone === "UTC" ? "UTC" : this.offset(timeMs)}`;
  }

  /** Returns `2024-03-09T02:30:00-05:00`. */
  rfc3339(timeMs: number): string {
    return `${this.#wall(timeMs)}${this.offset(timeMs)}`;
  }

  /** Returns `03-09 02:30`. */
  short(timeMs: number): string {
    return this.#wall(timeMs).slice(5, 16).replace("T", " ");
  }

  /** Returns the zone's offset from UTC. */
  offsetMs(timeMs: number): number {
    return this.#offsetAt(Math.floor(timeMs / 1000)) * 1000;
  }

  /** Returns `02:30`. */
  timeOfDay(timeMs: number): string {
    return this.#wall(timeMs).slice(11, 16);
  }

  /** Returns `-05:00`. Offsets with seconds, which only historic times have, are truncated to minutes. */
  offset(timeMs: number): string {
    const minutes = Math.trunc(this.#offsetAt(Math.floor(timeMs / 1000)) / 60);
    const twoDigits = (value: number): string => String(value).padStart(2, "0");
    const hours = Math.floor(Math.abs(minutes) / 60);
    return `${minutes < 0 ? "-" : "+"}${twoDigits(hours)}:${twoDigits(Math.abs(minutes) % 60)}`;
  }

  #wallMs(timeMs: number): number {
    return timeMs + this.#offsetAt(Math.floor(timeMs / 1000)) * 1000;
  }

  #wall(timeMs: number): string {
    return new Date(this.#wallMs(timeMs)).toISOString().slice(0, 19);
  }
}

/** Returns `Sat` for a wall time expressed as UTC milliseconds. */
export function weekday(wallMs: number): string {
  return WEEKDAYS[new Date(wallMs).getUTCDay()]!;
}
