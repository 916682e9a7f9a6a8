import type { RecordedRun } from "./recorded-run.js";
import type { FuturesReport } from "./futures-report.js";
import type { ComparisonReport, ReportData } from "./report-data.js";
import type { SpreadReport } from "./spread-report.js";

/** What a page can be about: one run, two, many futures, the load of schedules, or one run that went wrong step by step. */
export type PageData = ReportData | ComparisonReport | FuturesReport | SpreadReport | RecordedRun;
