const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Formats milliseconds as plans write them, without rounding: `1m30s250ms`. */
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

/** Formats a time as an offset from the plan's start: `+1m30s`. */
export function offsetText(atMs: number): string {
  return `+${durationText(atMs)}`;
}
