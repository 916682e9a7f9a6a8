export {
  check,
  htmlReport,
  needsExpressions,
  needsSharding,
  packData,
  runSimulation,
  simulateFutures,
  trace,
} from "@kubewright/analysis/browser";

export type {
  FuturesReport,
  FuturesResult,
  PageFiles,
  Problem,
  ReportData,
  SimulationRequestOptions,
  SimulationRequest,
  SimulationResult,
} from "@kubewright/analysis/browser";
