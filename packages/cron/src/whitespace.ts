/**
 * What Go takes for white space (unicode.IsSpace). JavaScript's `\s` differs: it lacks U+0085 and has U+FEFF.
 */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";

/** Splits around runs of white space; leading and trailing ones count for nothing (Go's strings.Fields). */
export function splitFields(text: string): string[] {
  return text.split(new RegExp(SPACE)).filter((field) => field !== "");
}

/** Without white space at either end (Go's strings.TrimSpace). */
export function trimSpace(text: string): string {
  // Two anchored searches: a pattern for "at the end" would rescan every inner run of spaces.
  const space = new RegExp(`^${SPACE.slice(0, -1)}$`);
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text[start]!)) start++;
  while (end > start && space.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}
