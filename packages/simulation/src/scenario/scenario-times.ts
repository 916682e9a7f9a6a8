import { parseDuration } from "@kubewright/clock";

/** Defaults of a scenario. */
export const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
export const DEFAULT_DURATION_MS = 86_400_000;

/** A duration that the schema allows, in milliseconds. */
export function durationOf(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}

/** When something happens, in epoch milliseconds; NaN for a day that is none. */
export function scenarioEventTime(at: string, startMs: number): number {
  return at.startsWith("+") ? startMs + durationOf(at.slice(1)) : timeOf(at);
}

/** A time the schema allows, in epoch milliseconds; NaN for a day the month does not have, of which Date.parse makes another. */
export function timeOf(text: string): number {
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(text);
}
