const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Milliseconds as a plan writes them, with nothing rounded: `1m30s250ms`. */
export function durationText(durationMs: number): string {
  let rest = Math.round(durationMs);
  let text = "";
  for (const [unit, unitMs] of UNITS) {
    const amount = Math.floor(rest / unitMs);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * unitMs;
  }
  return text === "" ? "0s" : text;
}

/** A time of a plan, as an offset from its start. */
export function offsetText(atMs: number): string {
  return `+${durationText(atMs)}`;
}
