/** A range of completion indexes, both ends included. */
export interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** Reads `1,3-5`, in any order. Empty text has no index. @returns `undefined` for invalid text. */
export function parseIndexes(text: string): readonly IndexRange[] | undefined {
  if (text === "") return [];
  const ranges: IndexRange[] = [];
  for (const item of text.split(",")) {
    const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(item.trim());
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first) return undefined;
    ranges.push({ first, last });
  }
  return ranges;
}

export function includesIndex(ranges: readonly IndexRange[], index: number): boolean {
  return ranges.some(({ first, last }) => index >= first && index <= last);
}
