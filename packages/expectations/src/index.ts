export { ConsistencyStore } from "./consistency-store.js";
export { ControllerExpectations } from "./controller-expectations.js";
export { FinalizerExpectations } from "./finalizer-expectations.js";
export { UIDTrackingExpectations } from "./uid-tracking-expectations.js";

export type { GroupResource, ObservedStore, Readiness } from "./consistency-store.js";
export type { Expectations } from "./controller-expectations.js";
export type { UIDTrackingExpectationsOptions } from "./uid-tracking-expectations.js";
