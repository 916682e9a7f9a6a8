const HOUR_MS = 3_600_000;

/** Returns the next full hour in RFC 3339, where `kubewright run` starts by default. */
export function nextStart(nowMs: number): string {
  return new Date((Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS).toISOString().replace(".000Z", "Z");
}
