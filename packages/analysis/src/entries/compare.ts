export { compareRuns } from "../compare/compare-runs.js";
export { comparisonLines } from "../compare/comparison-json.js";
export { comparisonReport } from "../compare/comparison-report.js";
export { comparisonLegend, comparisonText } from "../compare/comparison-text.js";
export { manifestChanges } from "../compare/manifest-changes.js";
export { RunRecords } from "../compare/run-records.js";

export type { ComparisonHeader } from "../compare/comparison-json.js";
