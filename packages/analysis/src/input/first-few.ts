/** Maximum number of lines of one kind; the others are counted. */
const MAX_LINES = 5;

/** Returns the lines, or the first of them and the number of the others. */
export function firstFew(lines: readonly string[], what: string): string[] {
  return lines.length <= MAX_LINES
    ? [...lines]
    : [...lines.slice(0, MAX_LINES - 1), `… and ${lines.length - MAX_LINES + 1} ${what}`];
}
