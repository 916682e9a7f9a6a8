export { lengthen, restartDelayMs } from "./crash-loop-back-off.js";
export { drawDuration, parseDurationRange } from "./duration.js";
export { parseExitCodes } from "./exit-codes.js";
export { FakeKubelet } from "./fake-kubelet.js";
export { parseIndexes } from "./index-ranges.js";
export { WORKLOAD_ANNOTATION_PREFIX, workloadOf } from "./workload.js";

export type { BackOff } from "./crash-loop-back-off.js";
export type { DurationRange, DurationSpread } from "./duration.js";
export type { ExitCodes, ExitCodeShare } from "./exit-codes.js";
export type { FakeKubeletOptions } from "./fake-kubelet.js";
export type { IndexRange } from "./index-ranges.js";
export type { WorkloadRule } from "./workload-rules.js";
export type { Workload } from "./workload.js";
