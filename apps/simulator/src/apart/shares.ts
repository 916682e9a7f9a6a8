import type { PlannedPart } from "./split.js";
import type { Part } from "./split.js";

/** Deals parts out so that no share has much more to do than another: the heaviest first, each to who has least (LPT). */
export function sharesOf(parts: readonly PlannedPart[], count: number): Part[][] {
  const shares = Array.from({ length: Math.min(count, parts.length) }, () => ({ weight: 0, parts: [] as Part[] }));
  for (const { part, weight } of [...parts].sort((a, b) => b.weight - a.weight)) {
    const least = shares.reduce((best, share) => (share.weight < best.weight ? share : best));
    // Whatever there is to do, a cluster is something to keep.
    least.weight += weight + 1;
    least.parts.push(part);
  }
  return shares.map((share) => share.parts);
}
