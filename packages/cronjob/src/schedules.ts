import type { CronJob, DeepReadonly } from "@kubewright/api";
import { type Schedule, TimeZoneCache, parseSchedule, timeZoneError } from "@kubewright/cron";

/** A parsed schedule, or the parser's error. */
export type ParsedSchedule = { readonly schedule: Schedule } | { readonly error: string };

/** Maximum number of cached texts; the oldest are evicted first. */
const CAPACITY = 1000;

/**
 * Parses schedules and loads time zones, with caches. Each instance has one local zone, for schedules without a zone
 * and for the zone name `Local`.
 */
export class Schedules {
  readonly #localTimeZone: string;
  readonly #zones = new TimeZoneCache();
  readonly #parsed = new Map<string, ParsedSchedule>();

  constructor(localTimeZone = "UTC") {
    this.#localTimeZone = localTimeZone;
  }

  parse(text: string): ParsedSchedule {
    let parsed = this.#parsed.get(text);
    if (parsed === undefined) {
      parsed = this.#parse(text);
      if (this.#parsed.size >= CAPACITY) this.#parsed.delete(this.#parsed.keys().next().value!);
      this.#parsed.set(text, parsed);
    }
    return parsed;
  }

  /** Returns why the zone cannot be loaded; `undefined` when it can. */
  zoneError(timeZone: string): string | undefined {
    return timeZone === "Local" || this.#zones.get(timeZone) !== undefined ? undefined : timeZoneError(timeZone);
  }

  /** Returns the offset in seconds east of UTC at an instant. @throws RangeError for a zone that cannot be loaded. */
  offsetSeconds(timeZone: string, epochMs: number): number {
    const zone = this.#zones.get(timeZone === "Local" ? this.#localTimeZone : timeZone);
    if (zone === undefined) throw new RangeError(timeZoneError(timeZone) ?? `unknown time zone ${timeZone}`);
    return zone.offsetAt(Math.floor(epochMs / 1000));
  }

  #parse(text: string): ParsedSchedule {
    try {
      const zone = { timeZone: this.#localTimeZone, localTimeZone: this.#localTimeZone, zones: this.#zones };
      return { schedule: parseSchedule(text, zone) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Returns whether the schedule text contains a zone, or seems to contain one: then `spec.timeZone` is ignored. */
export function hasEmbeddedTimeZone(schedule: string): boolean {
  return schedule.includes("TZ");
}

/**
 * Returns the text for the parser: `spec.schedule`, prefixed with `spec.timeZone` where it applies.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go formatSchedule
 */
export function effectiveSchedule(spec: DeepReadonly<CronJob>["spec"], schedules: Schedules): string {
  const schedule = spec?.schedule ?? "";
  const timeZone = spec?.timeZone;
  const prefixed = timeZone != null && !hasEmbeddedTimeZone(schedule) && schedules.zoneError(timeZone) === undefined;
  return prefixed ? `TZ=${timeZone} ${schedule}` : schedule;
}
