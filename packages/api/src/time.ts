/** Epoch milliseconds as `metav1.Time`: RFC 3339 in UTC, whole seconds, the fraction cut off. */
export function formatTime(epochMs: number): string {
  const text = new Date(epochMs).toISOString();
  return `${text.slice(0, text.length - 5)}Z`;
}

/** Epoch milliseconds as `metav1.MicroTime`: RFC 3339 in UTC with exactly six fractional digits. */
export function formatMicroTime(epochMs: number): string {
  const wholeMs = Math.floor(epochMs);
  const micros = Math.floor((epochMs - wholeMs) * 1000);
  return `${new Date(wholeMs).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}

/** An API time as epoch milliseconds; `undefined` for an absent or unreadable one. */
export function parseTime(time: string | null | undefined): number | undefined {
  if (!time) return undefined;
  const epochMs = Date.parse(time);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
