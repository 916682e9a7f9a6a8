/** Maximum number of lines of one kind; the others are counted. */
const MAX_LINES = 5;

/** Returns the lines, or the first of them and the number of the others. */
export function firstFew(lines: readonly string[], what: string, max = MAX_LINES): string[] {
  return lines.length <= max ? [...lines] : [...lines.slice(0, max - 1), `… and ${lines.length - max + 1} ${what}`];
}
