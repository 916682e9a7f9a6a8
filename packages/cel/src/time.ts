import { EvaluationProblem, type Timestamp } from "./values.js";

/** Returns the nanoseconds since 1970 of an RFC 3339 time; `undefined` when malformed. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", , sign, offsetHour, offsetMinute] = match;
  const days = Number(day);
  if (days < 1 || days > daysIn(Number(year), Number(month))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour ?? 0) > 24 || Number(offsetMinute ?? 0) > 60) return undefined;
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === "-" ? -1 : 1);
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - offset * 60_000;
  return BigInt(atMs) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
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

/**
 * Returns one part of an instant in the zone that `inZone` converts to. Months, days of the month (`getDayOfMonth`) and
 * days of the year count from zero.
 */
export function timestampPart({ nanos }: Timestamp, part: string, inZone: (utc: Date) => Date): bigint {
  const [seconds, rest] = splitSeconds(nanos);
  const local = inZone(new Date(Number(seconds) * 1000));
  switch (part) {
    case "getFullYear":
      return BigInt(local.getUTCFullYear());
    case "getMonth":
      return BigInt(local.getUTCMonth());
    case "getDayOfYear": {
      const start = Date.UTC(local.getUTCFullYear(), 0, 1);
      return BigInt(Math.floor((local.getTime() - start) / 86_400_000));
    }
    case "getDayOfMonth":
      return BigInt(local.getUTCDate() - 1);
    case "getDate":
      return BigInt(local.getUTCDate());
    case "getDayOfWeek":
      return BigInt(local.getUTCDay());
    case "getHours":
      return BigInt(local.getUTCHours());
    case "getMinutes":
      return BigInt(local.getUTCMinutes());
    case "getSeconds":
      return BigInt(local.getUTCSeconds());
    default:
      return rest / 1_000_000n;
  }
}
