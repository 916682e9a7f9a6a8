import { parseDecimal } from "./decimal.js";

/** The indexes from `first` to `last`, both included. */
export interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/** Disjoint, not adjacent, ascending, unless read from a text that is not. */
export type IndexIntervals = readonly IndexInterval[];

/** Longest text that is read: far more than the API server stores in one object. */
const MAX_TEXT_LENGTH = 2 ** 23;

/**
 * Reads the text form of a set of indexes (`1,3-5,7`), as leniently as the API server's validation is strict: the text
 * may be older than the current number of completions.
 *
 * Items that are no numbers are left out; the first item at or above `completions` ends the reading; an interval
 * reaching beyond is cut. Intervals are never spelled out, so neither time nor memory depends on how many indexes
 * they hold.
 *
 * What is out of order, or twice, stays so, as upstream: merging drops what is not ascending. Upstream also takes in an
 * interval that ends before it begins, and counts it as less than nothing; here it is left out.
 *
 * @throws RangeError when the text has more than 8 Mi characters.
 * Upstream: pkg/controller/job/indexed_job_utils.go parseIndexesFromString.
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
 * The text form: `a` for one index, `a,b` for two neighbours, `a-b` for three and more.
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

/** A set of indexes given one by one, in any order, repeated or not. */
export function indexIntervalsOf(indexes: Iterable<number>): IndexInterval[] {
  const result: IndexInterval[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) append(result, { first: index, last: index });
  return result;
}

/** The union of two sets. Upstream: indexed_job_utils.go orderedIntervals.merge. */
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

/** How many indexes the set has. */
export function countIndexes(intervals: IndexIntervals): number {
  let count = 0;
  for (const { first, last } of intervals) count += last - first + 1;
  return count;
}

/** How many indexes two sets have in common. */
export function countCommonIndexes(a: IndexIntervals, b: IndexIntervals): number {
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i]!;
    const right = b[j]!;
    count += Math.max(0, Math.min(left.last, right.last) - Math.max(left.first, right.first) + 1);
    // Both where both end, as upstream: it matters for a text that is out of order.
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

/** Adds an interval whose first index is not below that of the last one in the list. */
function append(list: IndexInterval[], next: IndexInterval): void {
  const previous = list.at(-1);
  if (previous === undefined || next.first > previous.last + 1) list.push(next);
  else if (next.last > previous.last) list[list.length - 1] = { first: previous.first, last: next.last };
}
