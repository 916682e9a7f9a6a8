export { packData } from "../html-report/packed-data.js";
export { check } from "./check.js";
export { needsExpressions, needsSharding } from "./needs.js";
export { htmlReport, runSimulation, trace } from "./run-simulation.js";
export { simulateFutures } from "./simulate-futures.js";

export type { FuturesReport, ReportData } from "@kubewright/timeline/data";
export type { PageFiles } from "./page-files.js";
export type { SimulationResult } from "./run-simulation.js";
export type { FuturesResult } from "./simulate-futures.js";
export type { SimulationRequestOptions, SimulationRequest } from "./simulation-request.js";
export type { Problem } from "./problem.js";
