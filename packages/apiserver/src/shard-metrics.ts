import type { ResourceDefinition } from "@kubewright/api";

type Resource = Pick<ResourceDefinition, "group" | "resource">;

/** Takes the measurements of watches that are limited to a shard. */
export interface ShardMetrics {
  watchOpened(resource: Resource): void;
  watchEnded(resource: Resource): void;
  /** An object was found to be of another shard; of a change the old one and the new one are looked at. */
  eventFiltered(resource: Resource): void;
}
