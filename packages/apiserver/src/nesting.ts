/**
 * Objects and lists that may be within each other in what is taken in, the outermost counted: what everything here that goes
 * through objects survives several times over, so that whatever is stored can be answered, watched, compared and printed.
 * Deliberately lower than upstream's 10,000 (`maxNestingDepth` of Go's decoder), which JavaScript's `JSON.stringify` does not
 * reach.
 */
export const MAX_NESTING = 500;

/** What Go's decoder says of more. */
export const TOO_DEEP = "exceeded max depth";

/** Whether more objects and lists than that are within each other. Looks no deeper, so that no value is too deep for it. */
export function isNestedDeeper(value: unknown, levels: number = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && isNestedDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === "object" && isNestedDeeper(member, levels - 1)) return true;
  }
  return false;
}
