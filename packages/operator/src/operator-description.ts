import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

/**
 * What an operator is, as far as its manifests and the rights in them depend on it. An `Operator` is one as it stands:
 * `kubewright-operator manifests FILE` looks for exports of this shape.
 */
export interface OperatorDescription {
  /** A DNS name, such as `backup-operator`: of its Deployment, ServiceAccount and roles, too. */
  readonly name: string;
  readonly options: {
    /** Namespaces that it watches. Default: all. */
    readonly namespaces?: readonly string[];
    /** Default: on, by a Lease of the operator's name, in its own namespace. */
    readonly leaderElection?: { readonly leaseName?: string; readonly namespace?: string } | false;
    /** Replicas share the work, in place of one that leads. Default: off. */
    readonly sharding?: "namespaces";
  };
  readonly controllers: readonly ControllerDescription[];
}

/** What a controller reads and writes. */
export interface ControllerDescription {
  readonly name: string;
  readonly resources: readonly UsedResource[];
  /** What it puts on its objects. */
  readonly finalizer?: string | undefined;
}

/** A resource that a controller uses, and how. */
export interface UsedResource {
  /**
   * `for`: it is reconciled, with its status; `owns`: read, created, changed and deleted; `watches`, `reads`: read and followed;
   * `writes`: created, changed and deleted.
   */
  readonly role: "for" | "owns" | "watches" | "reads" | "writes";
  readonly definition: ResourceDefinition<KubernetesObject>;
}
