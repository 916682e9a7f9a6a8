export { RunDigest } from "./digest/run-digest.js";
export { summaryBlock } from "./digest/summary-text.js";
export { createManifests } from "./input/create-manifests.js";
export { loadManifests } from "./input/load-manifests.js";
export { parseManifests } from "./input/parse-manifests.js";
export { loadScenario } from "./scenario/load-scenario.js";
export { simulate } from "./simulation.js";
export { Timeline } from "./timeline.js";
export { legend, summaryText, timelineText } from "./timeline-text.js";
export { traceLine } from "./trace.js";
export { UserError } from "./user-error.js";

export type { DigestGroup, DigestRow, FoldedRows } from "./digest/run-digest.js";
export type { RunStatistics } from "./digest/run-statistics.js";
export type { Manifest } from "./input/manifest.js";
export type { Scenario } from "./scenario/scenario.js";
export type { SimulationOptions } from "./simulation.js";
export type {
  PodBar,
  RunRow,
  SkippedRow,
  TimelineGroup,
  TimelineListener,
  TimelineRow,
  TimelineTotals,
} from "./timeline.js";
export type { TraceRecord } from "./trace.js";
