import { ScheduleError, parseSchedule } from "@kubewright/cron";

/** The minutes of the hour at which a schedule fires, and the rest of the schedule. */
export interface MinuteField {
  /** Ascending, 0 to 59. */
  readonly minutes: readonly number[];
  /** Minimum and maximum shift of all minutes within the hour, in minutes. */
  readonly earliest: number;
  readonly latest: number;
  /** Returns the schedule with each minute shifted. Hours, days and the zone stay. */
  shiftedBy(minutes: number): string;
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
const LAST_MINUTE = 59;

/** @returns `undefined` for `@every`, which has no minute, and for an invalid schedule. */
export function readMinuteField(schedule: string): MinuteField | undefined {
  if (!isSchedule(schedule)) return undefined;
  const [, zone = "", rest = ""] = /^((?:CRON_)?TZ=\S*\s+)?(.*)$/s.exec(schedule)!;
  const fields = /^\s*(\S+)(\s.*)$/s.exec(DESCRIPTORS.get(rest.trim()) ?? rest);
  if (fields === null || rest.startsWith("@every")) return undefined;
  const [, field = "", otherFields = ""] = fields;
  const items = field
    .split(",")
    .filter((item) => item !== "")
    .map(readItem);
  const minutes = [...new Set(items.flatMap(minutesOf))].sort((a, b) => a - b);
  const first = minutes[0];
  if (first === undefined) return undefined;
  return {
    minutes,
    earliest: -first,
    latest: LAST_MINUTE - minutes.at(-1)!,
    shiftedBy: (by) =>
      by === 0 ? schedule : `${zone}${items.map((item) => itemText(item, by)).join(",")}${otherFields}`,
  };
}

interface MinuteItem {
  readonly first: number;
  readonly last: number;
  /** Absent: a single minute, or every minute of the range. */
  readonly step?: number;
}

/** Parses an item of a valid field. */
function readItem(item: string): MinuteItem {
  const [base = "", step] = item.split("/");
  const [low = "", high] = base.split("-");
  const isAll = low === "*" || low === "?";
  const first = isAll ? 0 : Number(low);
  const last = isAll ? LAST_MINUTE : high !== undefined ? Number(high) : step === undefined ? first : LAST_MINUTE;
  return { first, last, ...(step === undefined ? {} : { step: Number(step) }) };
}

function minutesOf({ first, last, step = 1 }: MinuteItem): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

/** A range ends at most at the end of the hour: the item has no further minute between its last one and that. */
function itemText({ first, last, step }: MinuteItem, shift: number): string {
  const from = first + shift;
  if (first === last) return String(from);
  const to = Math.min(LAST_MINUTE, last + shift);
  return `${from}-${to}${step === undefined ? "" : `/${step}`}`;
}

function isSchedule(text: string): boolean {
  try {
    parseSchedule(text);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}
