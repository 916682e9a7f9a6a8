import type { FuturesReport } from "./futures-report.js";
import type { ComparisonReport, ReportData } from "./report-data.js";

/** What a page can be about: one run, two, or many futures. */
export type PageData = ReportData | ComparisonReport | FuturesReport;
