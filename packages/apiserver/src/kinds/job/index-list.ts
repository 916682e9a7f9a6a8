/** The number of indexes in a list such as `0,2-4`, or the error. */
export type IndexListResult = { readonly count: number } | { readonly error: string };

/**
 * Parses a list of completion indexes: increasing numbers and intervals, separated by commas. The empty list is valid.
 *
 * @param completions - The exclusive upper bound of the indexes.
 *
 * Upstream: `validateIndexesFormat` in `pkg/apis/batch/validation`.
 */
export function parseIndexList(text: string, completions: number): IndexListResult {
  const ranges = parseRanges(text, completions);
  if ("error" in ranges) return ranges;
  return { count: ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0) };
}

/** Returns the first index that is in both lists; `undefined` when there is none or a list is malformed. */
export function firstCommonIndex(a: string, b: string, completions: number): number | undefined {
  const left = parseRanges(a, completions);
  const right = parseRanges(b, completions);
  if ("error" in left || "error" in right) return undefined;
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const [firstLeft, lastLeft] = left[i]!;
    const [firstRight, lastRight] = right[j]!;
    if (lastLeft < firstRight) i++;
    else if (lastRight < firstLeft) j++;
    else return Math.max(firstLeft, firstRight);
  }
  return undefined;
}

function parseRanges(text: string, completions: number): [first: number, last: number][] | { readonly error: string } {
  const ranges: [number, number][] = [];
  if (text === "") return ranges;
  let previous: number | undefined;
  for (const fragment of text.split(",")) {
    const ends = fragment.split("-");
    if (ends.length > 2) {
      const quoted = JSON.stringify(fragment);
      return {
        error: `the fragment ${quoted} violates the requirement that an index interval can have at most two parts separated by '-'`,
      };
    }
    let last = previous;
    for (const end of ends) {
      if (!/^[+-]?\d+$/.test(end))
        return { error: `cannot convert string to integer for index: ${JSON.stringify(end)}` };
      const index = Number(end);
      if (index >= completions) return { error: `too large index: ${JSON.stringify(end)}` };
      if (last !== undefined && last >= index)
        return { error: `non-increasing order, previous: ${last}, current: ${index}` };
      last = index;
    }
    ranges.push([Number(ends[0]), last!]);
    previous = last;
  }
  return ranges;
}
