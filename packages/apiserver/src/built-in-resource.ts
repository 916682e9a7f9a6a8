import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { Handlers } from "./api-call.js";
import type { AdmissionPlugin } from "./registry/admission.js";
import type { Verb } from "./route.js";
import type { ScalePaths } from "./scale-paths.js";
import type { TypeDeclarations } from "./schema/type-declarations.js";
import type { Remover, ResourceView } from "./served-resource.js";
import type { ResourceStrategy, UpdateStrategy } from "./strategy.js";

/** Declaration of a resource that the server serves from its start: path, discovery names and behaviour. */
export interface BuiltInResource<T extends KubernetesObject = KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** Singular name, as in `kubectl get job`. Default: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Kind of a list. Default: the kind and `List`. */
  readonly listKind?: string;
  /** Verbs of the main resource. Default: {@link standardVerbs}. */
  readonly verbs?: readonly ResourceVerb[];
  readonly strategy: ResourceStrategy<T>;
  /** Types of the kind that no other kind declares. Absent: all its types are common types, or none is known. */
  readonly types?: TypeDeclarations;
  /**
   * Subresources by name. `status` may be omitted: the strategy's `status` declares it.
   *
   * Discovery lists them by name, with the verbs of their handlers.
   */
  readonly subresources?: Readonly<Record<string, BuiltInSubresource<T>>>;
  /** Set when the objects are stored as another resource (events.k8s.io/v1 Events are stored as core Events). */
  readonly view?: ResourceView<T>;
  /** The version that upstream stores objects in; used for discovery's storage version hash. Default: this version. */
  readonly storageVersion?: string;
  /** Replaces the generic deletion. Must also check the preconditions. */
  readonly remove?: Remover;
  /** Admission plugin of this kind. It may also handle writes of other kinds. */
  readonly admission?: AdmissionPlugin;
  /** Deprecation text for the `Warning` header of every request. Default: none. */
  readonly deprecation?: string;
  /** Milliseconds after its last write when the server removes an object. Default: never. */
  readonly timeToLiveMs?: number;
}

/** A subresource: a view of the object with its own update strategy, a Scale, or custom handlers. */
export type BuiltInSubresource<T extends KubernetesObject = KubernetesObject> =
  /** GET, PUT and PATCH of the object. The strategy decides which fields a write may change. */
  | { readonly strategy: UpdateStrategy<T> }
  /** GET, PUT and PATCH of an autoscaling/v1 Scale. */
  | { readonly scale: ScalePaths }
  | {
      readonly handlers: Handlers;
      /** Kind of the request body. Default: the object's kind. */
      readonly body?: { readonly group: string; readonly version: string; readonly kind: string };
    };

export type ResourceVerb = Verb;

/** The eight standard verbs. */
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
 * Declares a resource. Erases the object type, so that resources of all kinds fit in one list. The server passes a
 * strategy only objects of its own resource.
 */
export function builtInResource<T extends KubernetesObject>(resource: BuiltInResource<T>): BuiltInResource {
  return resource as unknown as BuiltInResource;
}
