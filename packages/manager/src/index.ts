export { chooseControllers } from "./managed-controller.js";
export { runAsLeader } from "./run-as-leader.js";
export { ShardedManager } from "./sharded-manager.js";

export type { BucketRun, ManagedContext, ManagedController, WorkSharing } from "./managed-controller.js";
export type { LeaderOptions } from "./run-as-leader.js";
export type { BucketUse, ShardedManagerOptions } from "./sharded-manager.js";
