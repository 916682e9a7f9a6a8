const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Parses `30d`, `1d12h`, `90m` or `45s` to milliseconds. Returns `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNITS_MS[unit!]!,
    0,
  );
}

/** Formats milliseconds with at most two units: `1d12h`, `4m5s`, `250ms`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)}ms`;
  let rest = Math.round(durationMs / 1_000);
  const parts: string[] = [];
  for (const [unit, seconds] of [
    ["d", 86_400],
    ["h", 3_600],
    ["m", 60],
    ["s", 1],
  ] as const) {
    const amount = Math.floor(rest / seconds);
    if (amount === 0 && parts.length === 0) continue;
    if (parts.length === 2) break;
    if (amount > 0 || parts.length > 0) parts.push(`${amount}${unit}`);
    rest -= amount * seconds;
  }
  return parts.filter((part, index) => index === 0 || !part.startsWith("0")).join("");
}
