import type { RecordedRun } from "./recorded-run.js";
import type { FuturesReport } from "./futures-report.js";
import type { ComparisonReport, ReportData } from "./report-data.js";
import type { SpreadReport } from "./spread-report.js";

/**
 * Data of a page: one run, a comparison of two runs, many futures, the load of schedules, or a recorded run with a
 * violation, step by step.
 */
export type PageData = ReportData | ComparisonReport | FuturesReport | SpreadReport | RecordedRun;
