export { ShardedManager } from "./sharded-manager.js";

export type { BucketUse, ShardedManagerOptions } from "./sharded-manager.js";
