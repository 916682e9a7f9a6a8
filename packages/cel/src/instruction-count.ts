/**
 * Estimates the number of instructions of a pattern without compiling it. The result is roughly an upper bound.
 */
export function instructionCount(pattern: string): number {
  /** The sizes of the enclosing groups before the current group. */
  const outer: number[] = [];
  let size = 0;
  /** The size of the last element, which a repetition would repeat. */
  let last = 0;
  const next = (count: number): void => {
    size += last;
    last = count;
  };
  for (let index = 0; index < pattern.length; index++) {
    switch (pattern[index]) {
      case "(":
        next(0);
        outer.push(size);
        size = 0;
        break;
      case ")":
        last += size + 2;
        size = outer.pop() ?? 0;
        break;
      case "[":
        next(1);
        index = classEnd(pattern, index);
        break;
      case "\\":
        index++;
        next(1);
        if (pattern[index] === "Q") {
          const end = pattern.indexOf("\\E", index);
          next((end < 0 ? pattern.length : end) - index);
          index = end < 0 ? pattern.length : end + 1;
        }
        break;
      case "{": {
        const repetition = REPETITION.exec(pattern.slice(index, index + MAX_REPETITION_LENGTH));
        if (repetition === null) next(1);
        else {
          last = last * 2 * Math.max(1, Number(repetition[1]), Number(repetition[2] ?? 0)) + 2;
          index += repetition[0].length - 1;
        }
        break;
      }
      default:
        next(1);
    }
  }
  return outer.reduce((sum, group) => sum + group, size + last + 2);
}

/** RE2 refuses more than 1000 repetitions. */
const REPETITION = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/;
const MAX_REPETITION_LENGTH = "{1000,1000}".length;

/** Returns the index of the end of the character class that starts at `start`. */
function classEnd(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === "^") index++;
  if (pattern[index] === "]") index++;
  for (; index < pattern.length && pattern[index] !== "]"; index++) {
    if (pattern[index] === "\\") index++;
    else if (pattern.startsWith("[:", index)) {
      const end = pattern.indexOf(":]", index + 2);
      if (end >= 0) index = end + 1;
    }
  }
  return index;
}
