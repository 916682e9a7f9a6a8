/**
 * Maximum nesting of objects and lists in input, including the outermost. All recursive code here can process several
 * times this depth, so every stored object can be answered, watched, compared and printed. Deliberately lower than
 * upstream's 10,000 (`maxNestingDepth` of Go's decoder), which JavaScript's `JSON.stringify` cannot process.
 */
export const MAX_NESTING = 500;

/** Message of Go's decoder for deeper nesting. */
export const TOO_DEEP = "exceeded max depth";

/** Whether a value is nested deeper than `levels`. Does not descend further, so it works for any depth. */
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
