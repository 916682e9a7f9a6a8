export { withClockGaps } from "../html-report/clock-gaps.js";
export { contentSecurityPolicy, htmlPage } from "../html-report/html-page.js";
export { HtmlReport, ReportRecorder, pageAssets } from "../html-report/html-report.js";
export { ReportBuilder } from "../html-report/report-builder.js";
export { junitXml } from "../output-formats/junit.js";
export { comparisonMarkdown, futuresMarkdown, runMarkdown } from "../output-formats/markdown.js";
export { ReportFiles, reportOutputs } from "../output-formats/report-files.js";
export { parseRunsFormat } from "../output-formats/runs-file.js";
export { checkSarif } from "../output-formats/sarif.js";

export type { PageAssets } from "../html-report/page-assets.js";
export type { CheckReport } from "../output-formats/check-report.js";
export type { ReportFlags } from "../output-formats/report-files.js";
