export { Client } from "./client.js";
export {
  StatusError,
  errorMessage,
  hasStatusCause,
  isAlreadyExists,
  isConflict,
  isConnectionLost,
  isConnectionRefused,
  isForbidden,
  isInternalError,
  isInvalid,
  isNotFound,
  isResourceExpired,
  isTooLargeResourceVersion,
  isTooManyRequests,
  reasonOf,
} from "./errors.js";
export { ResourceClient } from "./resource-client.js";
export { ShardReader } from "./shard-reader.js";

export type { ApplyPatch, JsonPatchOperation, MergePatch, Patch, StrategicMergePatch } from "./patch.js";
export type { RequestMetrics } from "./request-metrics.js";
export type { RequesterOptions as ClientOptions } from "./requester.js";
export type {
  DeleteOptions,
  GetOptions,
  ItemMapping,
  ListOptions,
  Reader,
  ReaderFactory,
  StatusWriter,
  WatchOptions,
  WriteOptions,
  Writer,
} from "./resource-client.js";
export type { ShardReaderOptions } from "./shard-reader.js";
