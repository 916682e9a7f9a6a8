import { ConstantDelaySchedule } from "./constant-delay-schedule.js";
import { type Field, daysOfMonth, daysOfWeek, hours, minutes, months, parseField } from "./field.js";
import { FieldSchedule, type Fields } from "./field-schedule.js";
import { parseGoDuration } from "./go-duration.js";
import { type FieldName, ScheduleError } from "./schedule-error.js";
import { timeZoneError } from "./time-zone-location.js";
import { type TimeZone, TimeZoneCache } from "./time-zone.js";
import { splitFields, trimSpace } from "./whitespace.js";

/** A parsed schedule. Immutable except for its zone's table of offsets, which grows with the requested years. */
export interface Schedule {
  /** The time zone of the fields. */
  readonly timeZone: string;

  /**
   * Returns the first run strictly after a time.
   *
   * @param afterMs - Milliseconds since the epoch.
   * @returns Milliseconds since the epoch, a whole second. `undefined` if there is no run until the end of the fifth
   * calendar year after that of `afterMs`. Also `undefined` if `afterMs` is not a valid `Date` time.
   */
  next(afterMs: number): number | undefined;
}

export interface ScheduleOptions {
  /** Time zone of a schedule without its own. Default `"UTC"`. */
  readonly timeZone?: string;
  /** The meaning of `TZ=Local`, which is the process's zone upstream. Default `"UTC"`. */
  readonly localTimeZone?: string;
  /** Cache of zone data. Share one between schedules to read each zone once. Default: a new cache for this schedule. */
  readonly zones?: TimeZoneCache;
}

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const EVERY = "@every ";

/**
 * Parses a schedule like Kubernetes: five fields (minute, hour, day of month, month, day of week), or `@hourly`,
 * `@daily`, `@weekly`, `@monthly`, `@yearly` and their synonyms, or `@every <duration>`. Each can begin with `TZ=<zone>
 * ` or `CRON_TZ=<zone> `, which overrides the option.
 *
 * @throws {@link ScheduleError}, and no other error, for any text.
 * @see robfig/cron v3.0.1 parser.go ParseStandard
 */
export function parseSchedule(text: string, options: ScheduleOptions = {}): Schedule {
  return parse(text, options);
}

/** Does the same as {@link parseSchedule}, for callers that need to distinguish the two kinds of schedules. */
export function parse(text: string, options: ScheduleOptions): FieldSchedule | ConstantDelaySchedule {
  if (typeof text !== "string") throw new ScheduleError(`schedule must be a string, not ${typeof text}`);
  if (text === "") throw new ScheduleError("empty spec string");

  const { zoneName = options.timeZone ?? "UTC", rest } = splitZone(text);
  const zone = loadZone(zoneName, options);

  if (rest.startsWith(EVERY)) return parseEvery(rest, zone);
  return new FieldSchedule(parseFields(rest), zone);
}

/** Separates the zone at the beginning of a schedule, if there is one. @throws {@link ScheduleError} without a space. */
export function splitZone(text: string): { readonly zoneName?: string; readonly rest: string } {
  if (!text.startsWith("TZ=") && !text.startsWith("CRON_TZ=")) return { rest: text };
  const space = text.indexOf(" ");
  // Upstream panics here. Its callers recover, and report the panic as a format error with this text.
  if (space < 0) throw new ScheduleError("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  return { zoneName: text.slice(text.indexOf("=") + 1, space), rest: trimSpace(text.slice(space)) };
}

/** Parses the five fields of a schedule, or a descriptor other than `@every`. @throws {@link ScheduleError} */
export function parseFields(rest: string): Fields {
  const expanded = rest.startsWith("@") ? DESCRIPTORS.get(rest) : rest;
  if (expanded === undefined) throw new ScheduleError(`unrecognized descriptor: ${rest}`);

  const fields = splitFields(expanded);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (fields.length !== 5)
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  return {
    minute: parseNamedField("minute", minute!, minutes),
    hour: parseNamedField("hour", hour!, hours),
    dayOfMonth: parseNamedField("day of month", dayOfMonth!, daysOfMonth),
    month: parseNamedField("month", month!, months),
    dayOfWeek: parseNamedField("day of week", dayOfWeek!, daysOfWeek),
  };
}

/** Adds the field's name to a parse error. */
function parseNamedField(field: FieldName, text: string, range: Parameters<typeof parseField>[1]): Field {
  try {
    return parseField(text, range);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw new ScheduleError(error.message, { cause: error, field });
  }
}

function loadZone(name: string, { localTimeZone = "UTC", zones = new TimeZoneCache() }: ScheduleOptions): TimeZone {
  const zone = zones.get(name === "Local" ? localTimeZone : name);
  if (zone === undefined)
    throw new ScheduleError(
      `provided bad location ${name}: ${timeZoneError(name) ?? `unknown time zone ${localTimeZone}`}`,
    );
  return zone;
}

function parseEvery(descriptor: string, zone: TimeZone): ConstantDelaySchedule {
  try {
    return new ConstantDelaySchedule(parseGoDuration(descriptor.slice(EVERY.length)), zone.name);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ScheduleError(`failed to parse duration ${descriptor}: ${error.message}`, { cause: error });
  }
}
