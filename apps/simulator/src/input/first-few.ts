/** Lines of one kind that are printed; the rest are counted. */
const MOST_LINES = 5;

/** The lines, or the first of them and how many more there are. */
export function firstFew(lines: readonly string[], what: string): string[] {
  return lines.length <= MOST_LINES
    ? [...lines]
    : [...lines.slice(0, MOST_LINES - 1), `… and ${lines.length - MOST_LINES + 1} ${what}`];
}
