import { TIME_ZONE_NAMES, isTimeZone } from "./time-zone-names.js";

/**
 * Returns the time zone that was probably meant: the same name in other letter case or with spaces, the city alone, or
 * the name with the fewest corrections, if there are few.
 *
 * @returns `undefined` if no name is similar.
 */
export function suggestTimeZone(name: string): string | undefined {
  const wanted = normalize(name);
  if (wanted === "" || name.length > MAX_NAME_LENGTH) return undefined;
  let best: { readonly zone: string; readonly corrections: number } | undefined;
  for (const zone of TIME_ZONE_NAMES) {
    const candidate = normalize(zone);
    const city = candidate.slice(candidate.lastIndexOf("/") + 1);
    const corrections =
      candidate === wanted
        ? 0
        : Math.min(
            editDistance(wanted, candidate),
            wanted.includes("/") ? Number.POSITIVE_INFINITY : editDistance(wanted, city),
          );
    if (best === undefined || corrections < best.corrections) best = { zone, corrections };
  }
  const maxCorrections = Math.max(1, Math.floor(wanted.length / 5));
  return best !== undefined && best.corrections <= maxCorrections && isTimeZone(best.zone) ? best.zone : undefined;
}

const MAX_NAME_LENGTH = 60;

function normalize(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "_");
}

/** Returns the number of insertions, deletions and replacements between two texts (Levenshtein distance). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
