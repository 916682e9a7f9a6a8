import type { PlannedSegment } from "./split-by-namespace.js";
import type { Segment } from "./split-by-namespace.js";

/** Deals parts out so that no share has much more to do than another: the heaviest first, each to who has least (LPT). */
export function assignSegments(segments: readonly PlannedSegment[], count: number): Segment[][] {
  const assignments = Array.from({ length: Math.min(count, segments.length) }, () => ({
    weight: 0,
    segments: [] as Segment[],
  }));
  for (const { segment, weight } of [...segments].sort((a, b) => b.weight - a.weight)) {
    const lightest = assignments.reduce((best, assignment) => (assignment.weight < best.weight ? assignment : best));
    // Whatever there is to do, a cluster is something to keep.
    lightest.weight += weight + 1;
    lightest.segments.push(segment);
  }
  return assignments.map((assignment) => assignment.segments);
}
