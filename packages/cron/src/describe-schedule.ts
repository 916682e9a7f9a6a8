import { ConstantDelaySchedule } from "./constant-delay-schedule.js";
import { type Field, daysOfMonth, daysOfWeek, months } from "./field.js";
import type { Fields } from "./field-schedule.js";
import { parse, parseFields, splitZone } from "./schedule.js";
import { ScheduleError } from "./schedule-error.js";

/**
 * Returns a schedule in words: `every hour, on the hour`, `every 15 minutes from 09:00 to 17:45, Monday to Friday`. Times
 * are local times of the schedule's zone. Schedules with equal words run at equal times.
 *
 * @returns `undefined` for a text that is no schedule, and for a schedule without short words.
 */
export function describeSchedule(text: string): string | undefined {
  try {
    const { zoneName, rest } = splitZone(text);
    const words = rest.startsWith("@every ") ? delayWords(rest) : fieldWords(parseFields(rest));
    return words === undefined || zoneName === undefined ? words : `${words} (${zoneName})`;
  } catch (error) {
    if (error instanceof ScheduleError) return undefined;
    throw error;
  }
}

function delayWords(rest: string): string | undefined {
  const schedule = parse(rest, {});
  if (!(schedule instanceof ConstantDelaySchedule)) return undefined;
  let seconds = (schedule.next(0) ?? 0) / 1000;
  const parts = [
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ].flatMap(([unit, length]) => {
    const count = Math.floor(seconds / Number(length));
    seconds -= count * Number(length);
    return count === 0 ? [] : [`${count}${unit}`];
  });
  return `every ${parts.join(" ")}`;
}

function fieldWords({ minute, hour, dayOfMonth, month, dayOfWeek }: Fields): string | undefined {
  const [minuteValues, hourValues, monthValues] = [valuesOf(minute), valuesOf(hour), valuesOf(month)];
  if (minuteValues.length === 0 || hourValues.length === 0 || monthValues.length === 0) return undefined;
  const time = timeWords(minuteValues, hourValues);
  const days = dayWords(dayOfMonth, dayOfWeek);
  const inMonths = monthWords(monthValues);
  if (time === undefined || days === undefined || inMonths === undefined) return undefined;
  // `at 02:30` names no day; an interval such as `every 15 minutes` needs none.
  const daily = days === "" && time.startsWith("at ") ? `every day ${time}` : `${time}${days}`;
  return `${daily}${inMonths}`;
}

/** Maximum number of values in a list. */
const MAX_LISTED = 12;
/** Maximum number of times of day in a list. */
const MAX_TIMES = 6;

function timeWords(minuteValues: readonly number[], hourValues: readonly number[]): string | undefined {
  const isEveryMinute = minuteValues.length === 60;
  const isEveryHour = hourValues.length === 24;
  const [firstMinute, lastMinute] = [minuteValues[0]!, minuteValues.at(-1)!];
  const [firstHour, lastHour] = [hourValues[0]!, hourValues.at(-1)!];
  const step = isEveryMinute ? 1 : divisorStep(minuteValues, 60);
  const interval = step === 1 ? "every minute" : `every ${step} minutes`;
  if (isEveryHour) {
    if (step !== undefined) return firstMinute === 0 ? interval : `${interval} from ${clock(0, firstMinute)}`;
    if (minuteValues.length === 1) return `every hour, ${pastHour(minuteValues)}`;
    if (isContiguous(minuteValues) && minuteValues.length > 2)
      return `every minute from :${two(firstMinute)} to :${two(lastMinute)} of every hour`;
    return minuteValues.length > MAX_LISTED ? undefined : `every hour, ${pastHour(minuteValues)}`;
  }
  if (step !== undefined && isContiguous(hourValues))
    return `${interval} from ${clock(firstHour, firstMinute)} to ${clock(lastHour, lastMinute)}`;
  if (minuteValues.length === 1) {
    const hourStep = divisorStep(hourValues, 24);
    if (hourStep !== undefined) return `every ${hourStep} hours from ${clock(firstHour, firstMinute)}`;
    const every = evenStep(hourValues);
    if (hourValues.length > 2 && every !== undefined)
      return `every ${every === 1 ? "hour" : `${every} hours`} from ${clock(firstHour, firstMinute)} to ${clock(lastHour, firstMinute)}`;
  }
  if (minuteValues.length * hourValues.length <= MAX_TIMES)
    return `at ${list(hourValues.flatMap((hour) => minuteValues.map((minute) => clock(hour, minute))))}`;
  if (minuteValues.length > MAX_LISTED && !isEveryMinute) return undefined;
  const which = isEveryMinute ? "every minute" : pastHour(minuteValues);
  return `${which}, in the hour${hourValues.length === 1 ? "" : "s"} ${list(hourValues.map((hour) => `${two(hour)}:00`))}`;
}

function pastHour(minuteValues: readonly number[]): string {
  if (minuteValues.length === 1 && minuteValues[0] === 0) return "on the hour";
  const unit = minuteValues.length === 1 && minuteValues[0] === 1 ? "minute" : "minutes";
  return `at ${list(minuteValues.map(String))} ${unit} past`;
}

/** The day fields combine as `or` when both are restricted; see {@link Field.star}. */
function dayWords(dayOfMonth: Field, dayOfWeek: Field): string | undefined {
  const [dates, weekdays] = [valuesOf(dayOfMonth), valuesOf(dayOfWeek)];
  const allDates = dates.length === daysOfMonth.maximum;
  const allWeekdays = weekdays.length === daysOfWeek.maximum + 1;
  if (dayOfMonth.star || dayOfWeek.star) {
    if (dates.length === 0 || weekdays.length === 0) return undefined;
    return allDates ? (allWeekdays ? "" : weekdayWords(weekdays)) : dateWords(dates);
  }
  if (allDates || allWeekdays) return "";
  if (dates.length === 0) return weekdays.length === 0 ? undefined : weekdayWords(weekdays);
  const onDates = dateWords(dates);
  if (weekdays.length === 0 || onDates === undefined) return onDates;
  return `${onDates}, and${weekdayWords(weekdays)} as well`.replace("and, ", "and ");
}

function dateWords(dates: readonly number[]): string | undefined {
  if (dates.length === 1) return ` on day ${dates[0]} of the month`;
  if (dates.length > 2 && isContiguous(dates)) return ` on days ${dates[0]} to ${dates.at(-1)} of the month`;
  const step = evenStep(dates);
  if (dates.length > 3 && step !== undefined)
    return ` on every ${step}${step === 2 ? "nd" : step === 3 ? "rd" : "th"} day of the month from day ${dates[0]} to day ${dates.at(-1)}`;
  return dates.length > MAX_LISTED ? undefined : ` on days ${list(dates.map(String))} of the month`;
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

function weekdayWords(weekdays: readonly number[]): string {
  const fromMonday = weekdays.map((day) => (day + 6) % 7).sort((a, b) => a - b);
  if (fromMonday.length > 2 && isContiguous(fromMonday))
    return `, ${WEEKDAYS[fromMonday[0]!]} to ${WEEKDAYS[fromMonday.at(-1)!]}`;
  return ` on ${list(fromMonday.map((day) => `${WEEKDAYS[day]}s`))}`;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

function monthWords(values: readonly number[]): string {
  if (values.length === months.maximum) return "";
  const name = (month: number): string => MONTHS[month - 1]!;
  if (values.length > 2 && isContiguous(values)) return `, from ${name(values[0]!)} to ${name(values.at(-1)!)}`;
  return `, in ${list(values.map(name))}`;
}

function valuesOf({ distance }: Field): number[] {
  return [...distance.keys()].filter((value) => distance[value] === 0);
}

/** Returns the constant difference between neighbours; `undefined` when they differ, or for a single value. */
function evenStep(values: readonly number[]): number | undefined {
  const steps = new Set(values.slice(1).map((value, index) => value - values[index]!));
  return steps.size === 1 ? [...steps][0] : undefined;
}

/** Returns the step of values that continue evenly into the next hour or day: `*\/15` in minutes, `*\/6` in hours. */
function divisorStep(values: readonly number[], whole: number): number | undefined {
  const step = evenStep(values);
  return step !== undefined && step * values.length === whole ? step : undefined;
}

function isContiguous(values: readonly number[]): boolean {
  return values.length === 1 || evenStep(values) === 1;
}

function clock(hour: number, minute: number): string {
  return `${two(hour)}:${two(minute)}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** `a, b and c` */
function list(texts: readonly string[]): string {
  return texts.length < 2 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
