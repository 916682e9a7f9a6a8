/** Lines of one kind that are printed; the rest are counted. */
const MAX_LINES = 5;

/** The lines, or the first of them and how many more there are. */
export function firstFew(lines: readonly string[], what: string): string[] {
  return lines.length <= MAX_LINES
    ? [...lines]
    : [...lines.slice(0, MAX_LINES - 1), `… and ${lines.length - MAX_LINES + 1} ${what}`];
}
