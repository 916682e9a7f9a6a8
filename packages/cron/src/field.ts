import { parseInteger } from "./integer.js";
import { ScheduleError } from "./schedule-error.js";

/** One of the five fields of a schedule: the range of its values, and their names. */
export interface FieldKind {
  readonly minimum: number;
  readonly maximum: number;
  /** Three-letter abbreviations in the order of their values, starting with `minimum`. */
  readonly names?: readonly string[];
}

export const minutes: FieldKind = { minimum: 0, maximum: 59 };
export const hours: FieldKind = { minimum: 0, maximum: 23 };
export const daysOfMonth: FieldKind = { minimum: 1, maximum: 31 };
export const months: FieldKind = {
  minimum: 1,
  maximum: 12,
  names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/** Sunday is 0; 7 is not allowed. */
export const daysOfWeek: FieldKind = {
  minimum: 0,
  maximum: 6,
  names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

/** The allowed values of a field. */
export interface Field {
  /**
   * For every value from 0 to the maximum: the distance to the next allowed value; 0 if the value itself is allowed. If
   * there is no later allowed value: the distance to maximum + 1, where the next larger unit begins.
   */
  readonly distance: Uint8Array;
  /** Whether no value is allowed: the field contained only commas. */
  readonly empty: boolean;
  /**
   * Whether the field has a `*` or `?` item without a step, or with step 1. It decides how the two day fields combine.
   */
  readonly star: boolean;
}

/**
 * Parses one field: items separated by commas. Ignores empty items.
 *
 * @throws {@link ScheduleError} for the first invalid item.
 * @see robfig/cron v3.0.1 parser.go getField
 */
export function parseField(text: string, kind: FieldKind): Field {
  const allowed = new Uint8Array(kind.maximum + 1);
  let empty = true;
  let star = false;
  for (const item of text.split(",")) {
    if (item === "") continue;
    const range = parseItem(item, kind);
    for (let value = range.start; value <= range.end; value += range.step) allowed[value] = 1;
    empty = false;
    star ||= range.star;
  }
  return { distance: distances(allowed), empty, star };
}

function distances(allowed: Uint8Array): Uint8Array {
  const distance = new Uint8Array(allowed.length);
  let next = allowed.length;
  for (let value = allowed.length - 1; value >= 0; value--) {
    if (allowed[value] === 1) next = value;
    distance[value] = next - value;
  }
  return distance;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly star: boolean;
}

/** Checks in upstream's order, which decides the reported error if there are several (parser.go getRange). */
function parseItem(item: string, kind: FieldKind): Range {
  const [base = "", stepText, ...moreSlashes] = item.split("/");
  const [low = "", high, ...moreHyphens] = base.split("-");
  const star = low === "*" || low === "?";

  let start = BigInt(kind.minimum);
  let end = BigInt(kind.maximum);
  // Text between a star and the slash is ignored: `*-x` is `*`.
  if (!star) {
    start = parseValue(low, kind);
    if (moreHyphens.length > 0) throw new ScheduleError(`too many hyphens: ${item}`);
    end = high === undefined ? start : parseValue(high, kind);
  }

  let step = 1n;
  if (moreSlashes.length > 0) throw new ScheduleError(`too many slashes: ${item}`);
  if (stepText !== undefined) {
    step = parseInteger(stepText);
    // `N/step` is the range from N to the maximum.
    if (high === undefined) end = BigInt(kind.maximum);
  }

  if (start < kind.minimum)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${kind.minimum}): ${item}`);
  if (end > kind.maximum) throw new ScheduleError(`end of range (${end}) above maximum (${kind.maximum}): ${item}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${item}`);
  if (step === 0n) throw new ScheduleError(`step of range should be a positive number: ${item}`);
  return { start: Number(start), end: Number(end), step: Number(step), star: star && step === 1n };
}

function parseValue(text: string, kind: FieldKind): bigint {
  const named = kind.names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 ? BigInt(kind.minimum + named) : parseInteger(text);
}
