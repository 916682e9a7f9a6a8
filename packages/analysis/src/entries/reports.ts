export { withClockGaps } from "../html-report/clock-gaps.js";
export { ReportRecorder } from "../html-report/report-recorder.js";
export { ReportBuilder } from "../html-report/report-builder.js";
export { comparisonMarkdown, futuresMarkdown, runMarkdown } from "../output-formats/markdown.js";
export { reportOutputs, writeReports } from "../output-formats/write-reports.js";
export { parseRunsFormat } from "../output-formats/runs-file.js";

export type { CheckReport } from "../output-formats/check-report.js";
export type { ReportFlags } from "../output-formats/write-reports.js";
