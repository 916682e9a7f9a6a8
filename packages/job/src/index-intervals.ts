import { parseDecimal } from "./decimal.js";

/** The indexes from `first` to `last`, both inclusive. */
export interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/** Disjoint, not adjacent and ascending intervals, unless parsed from an unordered text. */
export type IndexIntervals = readonly IndexInterval[];

/** Maximum length of a parsed text: far more than the API server stores in one object. */
const MAX_TEXT_LENGTH = 2 ** 23;

/**
 * Parses the text form of a set of indexes (`1,3-5,7`). It is lenient, whereas the API server's validation is strict:
 * the text may be older than the current number of completions.
 *
 * - Items that are no numbers are skipped.
 * - The first item at or above `completions` ends parsing.
 * - An interval that reaches beyond `completions` is cut.
 *
 * Intervals are never expanded, so time and memory do not depend on the number of indexes.
 *
 * Unordered or repeated items stay so, as upstream: merging drops items that are not ascending. Upstream also accepts
 * an interval that ends before it begins, and counts it as negative; here it is skipped.
 *
 * @throws RangeError when the text has more than 8 Mi characters. Upstream: pkg/controller/job/indexed_job_utils.go
 * parseIndexesFromString.
 */
export function parseIndexIntervals(text: string | undefined, completions: number): IndexInterval[] {
  const result: IndexInterval[] = [];
  if (!text) return result;
  if (text.length > MAX_TEXT_LENGTH)
    throw new RangeError(`a set of indexes of ${text.length} characters is not read: at most ${MAX_TEXT_LENGTH} are`);
  for (const item of text.split(",")) {
    const limits = item.split("-");
    const first = parseDecimal(limits[0]!);
    if (first === undefined) continue;
    if (first >= completions) break;
    const end = limits.length > 1 ? parseDecimal(limits[1]!) : first;
    if (end === undefined || end < first) continue;
    const last = Math.min(end, completions - 1);
    const previous = result.at(-1);
    if (previous !== undefined && previous.last === first - 1)
      result[result.length - 1] = { first: previous.first, last };
    else result.push({ first, last });
  }
  return result;
}

/**
 * Formats intervals as text: `a` for one index, `a,b` for two neighbours, `a-b` for three and more.
 *
 * Upstream: indexed_job_utils.go orderedIntervals.String.
 */
export function formatIndexIntervals(intervals: IndexIntervals): string {
  const items: string[] = [];
  for (const { first, last } of intervals) {
    if (last === first) items.push(`${first}`);
    else items.push(last === first + 1 ? `${first},${last}` : `${first}-${last}`);
  }
  return items.join(",");
}

/** Builds intervals from indexes in any order, with or without repetitions. */
export function indexIntervalsOf(indexes: Iterable<number>): IndexInterval[] {
  const result: IndexInterval[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) append(result, { first: index, last: index });
  return result;
}

/** Returns the union of two sets. Upstream: indexed_job_utils.go orderedIntervals.merge. */
export function mergeIndexIntervals(a: IndexIntervals, b: IndexIntervals): IndexInterval[] {
  const result: IndexInterval[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && (right === undefined || left.first <= right.first)) {
      append(result, left);
      i++;
    } else {
      append(result, right!);
      j++;
    }
  }
  return result;
}

/** Returns the number of indexes in the set. */
export function countIndexes(intervals: IndexIntervals): number {
  let count = 0;
  for (const { first, last } of intervals) count += last - first + 1;
  return count;
}

/** Returns the number of indexes that two sets have in common. */
export function countCommonIndexes(a: IndexIntervals, b: IndexIntervals): number {
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i]!;
    const right = b[j]!;
    count += Math.max(0, Math.min(left.last, right.last) - Math.max(left.first, right.first) + 1);
    // If both intervals end at the same index, both advance, as upstream: this matters for unordered text.
    if (left.last <= right.last) i++;
    if (left.last >= right.last) j++;
  }
  return count;
}

export function hasIndex(intervals: IndexIntervals, index: number): boolean {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (intervals[middle]!.last >= index) high = middle;
    else low = middle + 1;
  }
  return low < intervals.length && intervals[low]!.first <= index;
}

/** Appends an interval whose first index is not below that of the last interval in the list. */
function append(list: IndexInterval[], next: IndexInterval): void {
  const previous = list.at(-1);
  if (previous === undefined || next.first > previous.last + 1) list.push(next);
  else if (next.last > previous.last) list[list.length - 1] = { first: previous.first, last: next.last };
}
