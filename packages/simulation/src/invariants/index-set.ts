/** The indexes from `first` to `last`, both included. */
interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** A set of indexes in the format of a Job's status: `0,2-5`. */
export class IndexSet {
  readonly #ranges: readonly IndexRange[];
  /** Number of indexes. */
  readonly size: number;

  /** @throws RangeError unless the text consists of ascending numbers and ranges. */
  constructor(text: string | null | undefined) {
    this.#ranges = (text ?? "")
      .split(",")
      .filter((item) => item !== "")
      .map(parseRange);
    let size = 0;
    let below = -1;
    for (const { first, last } of this.#ranges) {
      if (!(first > below && last >= first)) throw new RangeError(`${text} is not a set of indexes`);
      size += last - first + 1;
      below = last;
    }
    this.size = size;
  }

  has(index: number): boolean {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ranges[middle]!.last < index) low = middle + 1;
      else high = middle;
    }
    return low < this.#ranges.length && this.#ranges[low]!.first <= index;
  }

  /** Returns the first index below `completions` that the other set lacks. */
  firstMissingIn(other: IndexSet, completions = Infinity): number | undefined {
    let position = 0;
    for (const { first, last } of this.#ranges) {
      const end = Math.min(last, completions - 1);
      for (let next = first; next <= end;) {
        while (position < other.#ranges.length && other.#ranges[position]!.last < next) position++;
        const run = other.#ranges[position];
        if (run === undefined || run.first > next) return next;
        next = run.last + 1;
      }
    }
    return undefined;
  }

  /** Returns the number of indexes below a number. */
  sizeBelow(completions: number): number {
    let size = 0;
    for (const { first, last } of this.#ranges) size += Math.max(0, Math.min(last, completions - 1) - first + 1);
    return size;
  }

  /** Returns the number of indexes below `completions` that pass the test. */
  countBelow(completions: number, test: (index: number) => boolean): number {
    let count = 0;
    for (const { first, last } of this.#ranges)
      for (let index = first; index <= last && index < completions; index++) if (test(index)) count++;
    return count;
  }
}

function parseRange(item: string): IndexRange {
  const [first = "", last = first] = item.split("-");
  return { first: Number(first), last: Number(last) };
}
