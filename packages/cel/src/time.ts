import { isDate } from "./string-formats.js";
import { EvaluationProblem, type Timestamp } from "./values.js";

/** Returns the nanoseconds since 1970 of an RFC 3339 time; `undefined` when malformed. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", , sign, offsetHour, offsetMinute] = match;
  if (!isDate(`${year}-${month}-${day}`)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour ?? 0) > 24 || Number(offsetMinute ?? 0) > 60) return undefined;
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === "-" ? -1 : 1);
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - offset * 60_000;
  return BigInt(atMs) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** Formats a duration as CEL does: `1.5s`. */
export function formatDuration(nanos: bigint): string {
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${sign}${size / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}

/** Formats an instant as RFC 3339 in UTC, without trailing zeros in the fraction. */
export function formatTimestamp({ nanos }: Timestamp): string {
  const [seconds, rest] = splitSeconds(nanos);
  const fraction = String(rest).padStart(9, "0").replace(/0+$/, "");
  return new Date(Number(seconds) * 1000).toISOString().replace(/\.000Z$/, `${fraction === "" ? "" : `.${fraction}`}Z`);
}

function splitSeconds(nanos: bigint): [bigint, bigint] {
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return [(nanos - rest) / 1_000_000_000n, rest];
}

/** Formats a number as Go prints a float64: `1e+06`, `0.5`. Upstream: `strconv.FormatFloat(v, 'g', -1, 64)`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  if (value === 0) return "0";
  const [digits, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 21) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${digits}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent >= 0) return String(value);
  return value.toFixed(Math.min(100, digits.replace(/[-.]/g, "").length - exponent - 1));
}

/** The number of cached formats. Creating a format takes ten times as long as using it. */
const MAX_CACHED_ZONES = 64;

/** Converts instants to the local time of a zone. */
export class TimeZones {
  readonly #formats = new Map<string, Intl.DateTimeFormat>();

  /**
   * Returns an instant whose UTC parts equal the parts of `utc` in that zone. Zones are names or offsets:
   * `Europe/Berlin`, `+02:00`.
   *
   * @throws EvaluationProblem when the zone is unknown
   */
  local(utc: Date, zone: string): Date {
    if (zone === "" || zone === "UTC") return utc;
    const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
    if (offset !== null) {
      const minutes = Number(offset[2]) * 60 + Number(offset[3]);
      return new Date(utc.getTime() + (offset[1] === "-" ? -minutes : minutes) * 60_000);
    }
    const parts = this.#format(zone).formatToParts(utc);
    const number = (type: string): number => Number(parts.find((each) => each.type === type)?.value ?? 0);
    const local = new Date(0);
    local.setUTCFullYear(number("year"), number("month") - 1, number("day"));
    local.setUTCHours(number("hour"), number("minute"), number("second"));
    return local;
  }

  #format(zone: string): Intl.DateTimeFormat {
    let format = this.#formats.get(zone);
    if (format !== undefined) return format;
    try {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      throw new EvaluationProblem(`unknown time zone ${zone}`);
    }
    if (this.#formats.size >= MAX_CACHED_ZONES) this.#formats.clear();
    this.#formats.set(zone, format);
    return format;
  }
}

const DAY_MS = 86_400_000;

/**
 * The functions that read one part of an instant from its local time, the UTC parts of `local`. Months, days of the
 * month (`getDayOfMonth`) and days of the year count from zero.
 */
const LOCAL_PARTS: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDayOfYear: (local) => Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDate: (local) => local.getUTCDate(),
  getDayOfWeek: (local) => local.getUTCDay(),
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
};
export const TIMESTAMP_PARTS: readonly string[] = [...Object.keys(LOCAL_PARTS), "getMilliseconds"];

/** Returns one part of an instant, one of {@link TIMESTAMP_PARTS}, in the zone that `inZone` converts to. */
export function timestampPart({ nanos }: Timestamp, part: string, inZone: (utc: Date) => Date): bigint {
  const [seconds, rest] = splitSeconds(nanos);
  const local = inZone(new Date(Number(seconds) * 1000));
  const read = LOCAL_PARTS[part];
  return read === undefined ? rest / 1_000_000n : BigInt(read(local));
}
