import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { EventsApi } from "./event-recording.js";
import type { Webhook } from "./webhooks/webhook.js";
import type { CacheNarrowing, NarrowedCache } from "./cache-narrowing.js";

/**
 * The part of an operator that its manifests and their roles depend on. An `Operator` implements it:
 * `kubewright-operator manifests FILE` looks for exports of this shape.
 */
export interface OperatorDescription {
  /** A DNS name, such as `backup-operator`; also the name of its Deployment, ServiceAccount and roles. */
  readonly name: string;
  readonly options: {
    /** Namespaces that it watches. Default: all. */
    readonly namespaces?: readonly string[];
    /** What single caches store. Default: all objects. */
    readonly caches?: readonly NarrowedCache[];
    /** Default: on, with a Lease of the operator's name in its own namespace. */
    readonly leaderElection?: { readonly leaseName?: string; readonly namespace?: string } | false;
    /** Replicas share the work instead of electing a leader. Default: off. */
    readonly sharding?: "namespaces";
    /** The API that events are recorded with. Default `v1`. */
    readonly events?: EventsApi;
    /** Webhooks that it serves. Default: none. */
    readonly webhooks?: readonly Webhook[];
  };
  readonly controllers: readonly ControllerDescription[];
}

/** The resources that a controller reads and writes. */
export interface ControllerDescription {
  readonly name: string;
  readonly resources: readonly UsedResource[];
  /** Finalizers that the controller adds to its objects. */
  readonly finalizers?: readonly string[];
}

/** A resource that a controller uses, and for what. */
export interface UsedResource {
  /**
   * - `for`: the controller reconciles it, and writes its status.
   * - `owns`: read, watched, created, updated and deleted.
   * - `watches`, `reads`: read and watched.
   * - `writes`: created, updated and deleted.
   */
  readonly role: "for" | "owns" | "watches" | "reads" | "writes";
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** How the controller narrows the cache of the resource. Default: as the operator does. */
  readonly cache?: CacheNarrowing | undefined;
}
