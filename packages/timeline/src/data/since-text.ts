/** Returns the time since the start to the millisecond: `+1h2m3.5s`. */
export function sinceText(atMs: number, startMs: number): string {
  const ms = Math.max(0, Math.round(atMs - startMs));
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1_000;
  return `+${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds}s`;
}
