const MAX_TOTAL = 4096;
const MAX_EACH = 256;
/** Maximum number of warnings of a response: each that is sent has at least one of the total number of characters. */
export const MAX_WARNINGS = MAX_TOTAL + 1;

/**
 * Returns `Warning` header values: `299 - "text"`. Drops texts with control characters. Beyond the total limit, truncates
 * each text, and then drops the last ones.
 *
 * Upstream: apiserver `endpoints/filters/warning.go`, apimachinery `pkg/util/net/http.go` NewWarningHeader.
 */
export function warningHeaders(allTexts: readonly string[]): string[] {
  const texts = allTexts.filter((text) => text !== "" && !/\p{Cc}/u.test(text));
  const total = texts.reduce((sum, text) => sum + Array.from(text).length, 0);
  if (total <= MAX_TOTAL) return texts.map(header);
  const kept: string[] = [];
  let length = 0;
  for (const text of texts) {
    const cut = Array.from(text).slice(0, MAX_EACH).join("");
    if (length + Array.from(cut).length > MAX_TOTAL) break;
    length += Array.from(cut).length;
    kept.push(header(cut));
  }
  return kept;
}

function header(text: string): string {
  return `299 - "${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
