export { createManifests } from "./input/create-manifests.js";
export { loadManifests } from "./input/load-manifests.js";
export { parseManifests } from "./input/parse-manifests.js";
export { loadScenario } from "./scenario/load-scenario.js";
export { simulate } from "./simulation.js";
export { Timeline } from "./timeline.js";
export { legend, summaryText, timelineText } from "./timeline-text.js";
export { traceLine } from "./trace.js";
export { UserError } from "./user-error.js";

export type { Manifest } from "./input/manifest.js";
export type { Scenario } from "./scenario/scenario.js";
export type { SimulationOptions } from "./simulation.js";
export type { PodBar, RunRow, SkippedRow, TimelineGroup, TimelineRow, TimelineTotals } from "./timeline.js";
export type { TraceRecord } from "./trace.js";
