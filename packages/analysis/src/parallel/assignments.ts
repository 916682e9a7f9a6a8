import type { PlannedSegment } from "./split-by-namespace.js";
import type { Segment } from "./split-by-namespace.js";

/**
 * Assigns segments to runners so that their loads are similar: the heaviest segment first, each to the runner with the
 * lowest load (LPT).
 */
export function assignSegments(segments: readonly PlannedSegment[], count: number): Segment[][] {
  const assignments = Array.from({ length: Math.min(count, segments.length) }, () => ({
    weight: 0,
    segments: [] as Segment[],
  }));
  for (const { segment, weight } of [...segments].sort((a, b) => b.weight - a.weight)) {
    const lightest = assignments.reduce((best, assignment) => (assignment.weight < best.weight ? assignment : best));
    // Each cluster has a fixed cost, even without runs.
    lightest.weight += weight + 1;
    lightest.segments.push(segment);
  }
  return assignments.map((assignment) => assignment.segments);
}
