import type { ResourceDefinition } from "@kubewright/api";

type Resource = Pick<ResourceDefinition, "group" | "resource">;

/** Receives the measurements of watches with a shard selector. */
export interface ShardMetrics {
  watchOpened(resource: Resource): void;
  watchEnded(resource: Resource): void;
  /** An object belongs to another shard. For a change, the old and the new object are checked. */
  eventFiltered(resource: Resource): void;
}
