import type { FuturesReport } from "./futures-report.js";
import type { ComparisonReport, ReportData } from "./report-data.js";
import type { SpreadReport } from "./spread-report.js";

/** What a page can be about: one run, two, many futures, or the load of schedules. */
export type PageData = ReportData | ComparisonReport | FuturesReport | SpreadReport;
