/**
 * Returns the known name with the fewest corrections, if those are few. Default maximum: one per three characters, at
 * least 1.
 */
export function closest(
  name: string,
  known: readonly string[],
  maxCorrections = Math.max(1, Math.floor(name.length / 3)),
): string | undefined {
  let best: { readonly candidate: string; readonly corrections: number } | undefined;
  for (const candidate of known) {
    const corrections = distance(name.toLowerCase(), candidate.toLowerCase());
    if (corrections <= maxCorrections && (best === undefined || corrections < best.corrections))
      best = { candidate, corrections };
  }
  return best?.candidate;
}

/** Returns `did you mean "x"?`, or the list of known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${JSON.stringify(meant)}?`;
}

/** Returns the edit distance: insertions, deletions, replacements and swaps of adjacent characters. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let fewest = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        fewest = Math.min(fewest, rows[i - 2]![j - 2]! + 1);
      row.push(fewest);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
