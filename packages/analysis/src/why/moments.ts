import { formatDuration } from "../time/duration.js";
import type { ZonedClock } from "../time/zoned-clock.js";

/** Clock difference within the cluster above which a note is added. */
const SKEW_MS = 60_000;

/** Returns a note for entries after the explained time. */
export function skewNotes(timesMs: readonly number[], clock: ZonedClock, nowMs: number): string[] {
  const latestMs = timesMs.reduce((latest, timeMs) => Math.max(latest, timeMs), Number.NEGATIVE_INFINITY);
  if (latestMs <= nowMs + SKEW_MS) return [];
  return [
    `the cluster holds entries from after this time, up to ${formatDuration(latestMs - nowMs)} later (${clock.brief(latestMs)}): give its own time with --at`,
  ];
}

/** `4m5s ago`, `in 2h`, `now`. */
export function relative(timeMs: number, nowMs: number): string {
  const distanceMs = Math.abs(timeMs - nowMs);
  if (distanceMs < 1000) return "now";
  return timeMs > nowMs ? `in ${formatDuration(distanceMs)}` : `${formatDuration(distanceMs)} ago`;
}

/**
 * Returns the relative time of a past event. A time slightly in the future counts as now, because the clocks of a
 * cluster differ.
 */
export function ago(timeMs: number, nowMs: number): string {
  return timeMs > nowMs && timeMs <= nowMs + SKEW_MS ? "now" : relative(timeMs, nowMs);
}
