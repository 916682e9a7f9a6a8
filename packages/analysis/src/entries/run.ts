export { findHighlights } from "../digest/highlights.js";
export { ThreadSegmentRunner } from "../parallel/segment-runners.js";
export { simulateNamespaces } from "../parallel/simulate-namespaces.js";
export { RunOutputs } from "../run/run-outputs.js";
export { simulateCluster } from "../run/simulate-cluster.js";
export { simulate } from "../run/simulation.js";
export { foundText } from "../text/found-text.js";
export { validateInput } from "../run/validate-input.js";
export { addedNodesText } from "../text/added-nodes-text.js";
export { assumptionText } from "../text/assumption-text.js";
export { runText } from "../text/run-text.js";
export { Timeline } from "../timeline/timeline.js";

export type { DigestGroup } from "../digest/run-digest.js";
export type { SegmentChunk } from "../parallel/segment-chunk.js";
export type { SegmentRunner, StartSegmentRunners } from "../parallel/segment-runners.js";
export type { SegmentOptions, SegmentResult } from "../parallel/simulated-segment.js";
export type { Segment } from "../parallel/split-by-namespace.js";
