/** Formats epoch milliseconds as RFC 3339 in UTC with milliseconds. JSON omits members that are `undefined`. */
export function isoTime(timeMs: number): string;
export function isoTime(timeMs: number | undefined): string | undefined;
export function isoTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}
