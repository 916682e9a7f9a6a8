/** White space as in Go (unicode.IsSpace). JavaScript's `\s` differs: it lacks U+0085 and has U+FEFF. */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";

/** Splits a text around runs of white space; ignores leading and trailing runs (Go's strings.Fields). */
export function splitFields(text: string): string[] {
  return text.split(new RegExp(SPACE)).filter((field) => field !== "");
}

/** Removes white space at both ends (Go's strings.TrimSpace). */
export function trimSpace(text: string): string {
  // Two loops over the ends, because a pattern for the end would rescan every inner run of spaces.
  const space = new RegExp(`^${SPACE.slice(0, -1)}$`);
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text[start]!)) start++;
  while (end > start && space.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}
