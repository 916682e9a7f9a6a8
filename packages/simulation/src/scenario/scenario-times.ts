import { parseDuration } from "@kubewright/clock";

/** Default start and duration of a scenario. */
export const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
export const DEFAULT_DURATION_MS = 86_400_000;

/** Converts a duration that the schema permits to milliseconds. */
export function durationOf(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}

/** Returns the time of an event in epoch milliseconds; NaN for a day that does not exist. */
export function scenarioEventTime(at: string, startMs: number): number {
  return at.startsWith("+") ? startMs + durationOf(at.slice(1)) : timeOf(at);
}

/**
 * Converts a time that the schema permits to epoch milliseconds; NaN for a day that the month does not have, which
 * Date.parse would convert to another day.
 */
export function timeOf(text: string): number {
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(text);
}
