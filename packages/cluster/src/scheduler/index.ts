export { FakeScheduler } from "./fake-scheduler.js";
export { fitsEmptyNode } from "./fits-empty-node.js";
export { matchesNodeAffinity } from "./node-affinity.js";
export { tolerates } from "./placement.js";
export { podRequests } from "./resources.js";

export type { FakeSchedulerOptions } from "./fake-scheduler.js";
export type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "./node-affinity.js";
export type { Taint, Toleration } from "./placement.js";
