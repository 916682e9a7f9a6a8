import { DAY, civilDate, dayOf, daysFromCivil, monthOf, weekdayOf, yearOf } from "./civil-date.js";
import type { Field } from "./field.js";
import type { Schedule } from "./schedule.js";
import { LAST_SECOND, type TimeZone } from "./time-zone.js";

const HOUR = 3600;
const MINUTE = 60;
/** Number of calendar years to search before a schedule counts as one that never runs. */
const YEARS_AHEAD = 5;

export interface Fields {
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
}

/**
 * Runs at every minute whose wall time in a zone matches five fields.
 *
 * @see robfig/cron v3.0.1 spec.go
 */
export class FieldSchedule implements Schedule {
  readonly #zone: TimeZone;
  readonly #minute: Uint8Array;
  readonly #hour: Uint8Array;
  readonly #dayOfMonth: Uint8Array;
  readonly #month: Uint8Array;
  readonly #dayOfWeek: Uint8Array;
  readonly #requiresBothDays: boolean;
  readonly #neverMatches: boolean;

  constructor({ minute, hour, dayOfMonth, month, dayOfWeek }: Fields, zone: TimeZone) {
    this.#zone = zone;
    this.#minute = minute.distance;
    this.#hour = hour.distance;
    this.#dayOfMonth = dayOfMonth.distance;
    this.#month = month.distance;
    this.#dayOfWeek = dayOfWeek.distance;
    this.#requiresBothDays = dayOfMonth.star || dayOfWeek.star;
    const noDay = this.#requiresBothDays ? dayOfMonth.empty || dayOfWeek.empty : dayOfMonth.empty && dayOfWeek.empty;
    this.#neverMatches = minute.empty || hour.empty || month.empty || noDay;
  }

  get timeZone(): string {
    return this.#zone.name;
  }

  get zone(): TimeZone {
    return this.#zone;
  }

  /** Whether the day of a wall time matches; ignores the time of day. In seconds, see {@link TimeZone}. */
  matchesDay(wall: number): boolean {
    const days = Math.floor(wall / DAY);
    const date = civilDate(days);
    return this.#month[monthOf(date)] === 0 && this.#dayMatches(days, date);
  }

  /** Whether the hour and the minute of a wall time match; ignores the day and the second. In seconds. */
  matchesTimeOfDay(wall: number): boolean {
    return this.#hour[hourOf(wall)] === 0 && this.#minute[minuteOf(wall)] === 0;
  }

  next(afterMs: number): number | undefined {
    const start = Math.floor(afterMs / 1000) + 1;
    if (this.#neverMatches || !(Math.abs(start) <= LAST_SECOND)) return undefined;
    const found = this.#search(start);
    return found !== undefined && found <= LAST_SECOND ? found * 1000 : undefined;
  }

  /**
   * Returns the first match at or after `start`, with upstream's algorithm: increments the largest unit that does not
   * match, and starts over when the next larger unit changes. Which wall times around an offset change run, are skipped
   * or run twice depends on these exact steps. Their order and kind therefore matter: months and days are steps on the
   * calendar, hours and minutes are elapsed time.
   */
  #search(start: number): number | undefined {
    const zone = this.#zone;
    const lastYear = yearOf(civilDate(Math.floor(zone.wallAt(start) / DAY))) + YEARS_AHEAD;
    let instant = start;
    // Whether the smaller units were set to their minimum. This happens once, before the first step.
    let moved = false;

    search: for (;;) {
      let wall = zone.wallAt(instant);
      let days = Math.floor(wall / DAY);
      let date = civilDate(days);
      if (yearOf(date) > lastYear) return undefined;

      while (this.#month[monthOf(date)] !== 0) {
        if (!moved) {
          moved = true;
          wall = zone.wallAt(zone.instantOf((days - dayOf(date) + 1) * DAY));
          days = Math.floor(wall / DAY);
          date = civilDate(days);
        }
        const timeOfDay = wall - days * DAY;
        instant = zone.instantOf(daysFromCivil(yearOf(date), monthOf(date) + 1, dayOf(date)) * DAY + timeOfDay);
        wall = zone.wallAt(instant);
        days = Math.floor(wall / DAY);
        date = civilDate(days);
        if (monthOf(date) === 1) continue search;
      }

      while (!this.#dayMatches(days, date)) {
        if (!moved) {
          moved = true;
          instant = zone.instantOf(days * DAY);
        }
        instant = this.#nextDay(instant);
        const today = days;
        days = Math.floor(zone.wallAt(instant) / DAY);
        // Every month has a 28th day, so up to that day the next date is the next number.
        date = days === today + 1 && dayOf(date) < 28 ? date + 1 : civilDate(days);
        if (dayOf(date) === 1) continue search;
      }

      wall = zone.wallAt(instant);
      while (this.#hour[hourOf(wall)] !== 0) {
        if (!moved) {
          moved = true;
          instant = zone.instantOf(Math.floor(wall / HOUR) * HOUR);
          wall = zone.wallAt(instant);
        }
        instant = this.#advance(instant, this.#hour[hourOf(wall)]!, HOUR);
        wall = zone.wallAt(instant);
        if (hourOf(wall) === 0) continue search;
      }

      while (this.#minute[minuteOf(wall)] !== 0) {
        if (!moved) {
          moved = true;
          instant = Math.floor(instant / MINUTE) * MINUTE;
          wall = zone.wallAt(instant);
        }
        instant = this.#advance(instant, this.#minute[minuteOf(wall)]!, MINUTE);
        wall = zone.wallAt(instant);
        if (minuteOf(wall) === 0) continue search;
      }

      while (secondOf(wall) !== 0) {
        moved = true;
        instant = this.#advance(instant, MINUTE - secondOf(wall), 1);
        wall = zone.wallAt(instant);
        if (secondOf(wall) === 0) continue search;
      }

      if (instant >= start) return instant;
      // Upstream returns this instant. Setting the smaller units to their minimum can lead to before the start: where
      // the clock goes back to the middle of an hour (Pacific/Chatham), or west of UTC by two hours or more. Callers
      // require a later instant. This happens only after an hour that does not match, so the search continues with the
      // next full hour.
      wall = zone.wallAt(start);
      instant = start + HOUR - (wall - Math.floor(wall / HOUR) * HOUR);
    }
  }

  #dayMatches(days: number, date: number): boolean {
    const dayOfMonth = this.#dayOfMonth[dayOf(date)] === 0;
    const dayOfWeek = this.#dayOfWeek[weekdayOf(days)] === 0;
    return this.#requiresBothDays ? dayOfMonth && dayOfWeek : dayOfMonth || dayOfWeek;
  }

  /** Returns the same wall time one calendar day later. If its hour is not 0, returns the nearest midnight. */
  #nextDay(instant: number): number {
    const wall = this.#zone.wallAt(instant);
    for (let step = 1; ; step++) {
      let later = this.#zone.instantOf(wall + step * DAY);
      const hour = hourOf(this.#zone.wallAt(later));
      if (hour !== 0) later += (hour > 12 ? 24 - hour : -hour) * HOUR;
      // A zone that skips a whole day (Pacific/Apia, 2011-12-30) leads back to the same instant, where upstream loops
      // for ever. Here the search continues with the day after the missing one.
      if (later > instant) return later;
    }
  }

  /**
   * Advances by `steps` units of elapsed time, at least one. Advances by only one unit if the offset changes on the
   * way, so that no match is missed.
   */
  #advance(instant: number, steps: number, unit: number): number {
    const target = instant + (steps || 1) * unit;
    return target < this.#zone.offsetValidUntil(instant) ? target : instant + unit;
  }
}

function hourOf(wall: number): number {
  return Math.floor(wall / HOUR) - Math.floor(wall / DAY) * 24;
}

function minuteOf(wall: number): number {
  return Math.floor(wall / MINUTE) - Math.floor(wall / HOUR) * 60;
}

function secondOf(wall: number): number {
  return wall - Math.floor(wall / MINUTE) * 60;
}
