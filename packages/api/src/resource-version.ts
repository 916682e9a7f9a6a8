const WELL_FORMED = /^[1-9][0-9]*$/;

/**
 * Compares two resourceVersions. Returns a negative number, zero or a positive number. Returns `undefined` if either is
 * not well formed (decimal digits without a leading zero). Never converts to a number: versions can exceed 2^53.
 *
 * Upstream: apimachinery `resourceversion.CompareResourceVersion`.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!WELL_FORMED.test(a) || !WELL_FORMED.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
