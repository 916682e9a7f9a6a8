export { packData } from "../report/packed-data.js";
export { check } from "./check.js";
export { needsExpressions, needsSharding } from "./needs.js";
export { htmlReport, play, trace } from "./play.js";
export { playFutures } from "./play-futures.js";

export type { FuturesReport, ReportData } from "@kubewright/timeline/data";
export type { PageFiles } from "./page-files.js";
export type { Played } from "./play.js";
export type { PlayedFutures } from "./play-futures.js";
export type { PlayOptions, PlayRequest } from "./play-request.js";
export type { Problem } from "./problem.js";
