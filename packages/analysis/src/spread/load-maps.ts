import { formatTime } from "@kubewright/api";
import type { LoadMaps, LoadRow } from "@kubewright/timeline/data";

import { maxBy } from "./load-curves.js";

const HOUR = 60;
const DAY = 24 * HOUR;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Maximum number of days with their own row. The first days are shown. */
const MAX_DAYS = 31;

/**
 * Returns a curve by minute of the hour, by hour of the day and, for several days, by day. @param startMs - A whole
 * hour.
 */
export function loadMaps(curve: Float64Array, startMs: number): LoadMaps {
  const first = firstMinute(startMs);
  const byMinuteOfDay = maxBy(curve, (minute) => (minute + first) % DAY, DAY);
  const hours = Math.min(24, Math.ceil(curve.length / HOUR));
  const firstHour = hours < 24 ? first / HOUR : 0;
  const days = daysOf(curve, startMs);
  const byHour = days < 2 ? [] : maxBy(curve, (minute) => Math.floor((minute + first) / HOUR), days * 24);
  return {
    byMinuteOfHour: maxBy(curve, (minute) => minute % HOUR, HOUR),
    byHour: Array.from({ length: hours }, (_, index): LoadRow => {
      const hour = (firstHour + index) % 24;
      return {
        label: `${String(hour).padStart(2, "0")}:00`,
        levels: byMinuteOfDay.slice(hour * HOUR, (hour + 1) * HOUR),
      };
    }),
    byDay: Array.from({ length: days < 2 ? 0 : Math.min(days, MAX_DAYS) }, (_, day): LoadRow => {
      const atMs = startMs + day * DAY_MS;
      return {
        label: `${formatTime(atMs).slice(0, 10)} ${new Date(atMs).toUTCString().slice(0, 3)}`,
        levels: byHour.slice(day * 24, (day + 1) * 24),
      };
    }),
  };
}

/** Returns the number of days that the map by day omits. */
export function omittedDays(curve: Float64Array, startMs: number): number {
  return Math.max(0, daysOf(curve, startMs) - MAX_DAYS);
}

function firstMinute(startMs: number): number {
  return Math.floor((startMs % DAY_MS) / MINUTE_MS);
}

function daysOf(curve: Float64Array, startMs: number): number {
  return Math.ceil((curve.length + firstMinute(startMs)) / DAY);
}
