import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ResourceStrategy } from "./strategy.js";

/** One resource that the server knows from the start: where it lives, how discovery names it, and how it behaves. */
export interface BuiltInResource<T extends KubernetesObject = KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** `job`, as in `kubectl get job`. */
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Kind of a list of these objects: `JobList`. */
  readonly listKind: string;
  /** Verbs of the main resource, in discovery's order; those of subresources follow from the strategy. */
  readonly verbs: readonly ResourceVerb[];
  readonly strategy: ResourceStrategy<T>;
  /** Set when another resource's storage serves this one too (events.k8s.io/v1 Events live in the core events). */
  readonly view?: ResourceView<T>;
  /** Milliseconds after its last write at which the server removes an object by itself. Default: never. */
  readonly timeToLiveMs?: number;
}

/** Two resources over one storage: how stored objects look here, and how what is sent here is stored. Both return new objects. */
export interface ResourceView<T extends KubernetesObject> {
  readonly storedAs: ResourceDefinition;
  fromStored(stored: KubernetesObject): T;
  toStored(object: T): KubernetesObject;
}

export type ResourceVerb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** The usual eight, in discovery's order. */
export const standardVerbs: readonly ResourceVerb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/**
 * Declares a resource. Erases the object type, so that resources of every kind fit one list: the server hands a strategy
 * only objects of its own resource.
 */
export function builtInResource<T extends KubernetesObject>(resource: BuiltInResource<T>): BuiltInResource {
  return resource as unknown as BuiltInResource;
}
