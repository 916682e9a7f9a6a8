export { FakeKubelet } from "./fake-kubelet.js";
export { WORKLOAD_ANNOTATION_PREFIX, workloadOf } from "./workload.js";

export type { DurationRange } from "./duration.js";
export type { FakeKubeletOptions } from "./fake-kubelet.js";
export type { IndexRange } from "./index-ranges.js";
export type { Workload } from "./workload.js";
