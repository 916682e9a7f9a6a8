import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ScalePaths } from "./handlers/scale.js";
import type { AdmissionPlugin } from "./registry/admission.js";
import type { Verb } from "./route.js";
import type { TypeDeclarations } from "./schema/type-declarations.js";
import type { Handlers, Remover, ResourceView } from "./served-resource.js";
import type { ResourceStrategy, UpdateStrategy } from "./strategy.js";

/** One resource that the server knows from the start: where it lives, how discovery names it, and how it behaves. */
export interface BuiltInResource<T extends KubernetesObject = KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** `job`, as in `kubectl get job`. */
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Kind of a list of these objects: `JobList`. */
  readonly listKind: string;
  /** Verbs of the main resource. */
  readonly verbs: readonly ResourceVerb[];
  readonly strategy: ResourceStrategy<T>;
  /** The kind's types, except those that other kinds declare. Absent: all of them are common ones, or none is known. */
  readonly types?: TypeDeclarations;
  /**
   * What is below an object, by name. A `status` need not be here: it follows from the strategy's.
   *
   * Discovery lists them by name, with the verbs of their handlers.
   */
  readonly subresources?: Readonly<Record<string, BuiltInSubresource<T>>>;
  /** Set when another resource's storage serves this one too (events.k8s.io/v1 Events live in the core events). */
  readonly view?: ResourceView<T>;
  /** The version that upstream stores objects in, which discovery's storage version hash tells. Default: this one. */
  readonly storageVersion?: string;
  /** Deletes an object where that is more than what every kind has. Checks the preconditions, too. */
  readonly remove?: Remover;
  /** Who is asked before something is written that concerns this kind, which need not be of this kind. */
  readonly admission?: AdmissionPlugin;
  /** What everybody who uses it is told in a `Warning`: that it is deprecated, and what to use. Default: nothing. */
  readonly deprecation?: string;
  /** Milliseconds after its last write at which the server removes an object by itself. Default: never. */
  readonly timeToLiveMs?: number;
}

/** A path below an object: another way to read and write it, the number of its replicas, or something of its own. */
export type BuiltInSubresource<T extends KubernetesObject = KubernetesObject> =
  /** GET, PUT and PATCH of the object, of which a write changes only what the strategy lets it. */
  | { readonly strategy: UpdateStrategy<T> }
  /** GET, PUT and PATCH of an autoscaling/v1 Scale. */
  | { readonly scale: ScalePaths }
  | {
      readonly handlers: Handlers;
      /** What is sent there. Default: the object itself. */
      readonly body?: { readonly group: string; readonly version: string; readonly kind: string };
    };

export type ResourceVerb = Verb;

/** The usual eight. */
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
