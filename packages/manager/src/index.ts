export { chooseControllers } from "./managed-controller.js";
export { Manager, initializationError } from "./manager.js";
export { LeadershipLostError, runAsLeader } from "./run-as-leader.js";
export { controllerStopTimeoutMs } from "./run-until-drained.js";

export type { BucketRun, ManagedContext, ManagedController, WorkSharing } from "./managed-controller.js";
export type { ManagerOptions } from "./manager.js";
export type { LeaderOptions } from "./run-as-leader.js";
