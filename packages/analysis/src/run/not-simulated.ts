import type { ResourceDefinition } from "@kubewright/api";
import { builtInResources } from "@kubewright/apiserver";

/** A kind that the API server stores and that no controller of the embedded cluster acts on. */
export interface NotSimulatedKind {
  readonly definition: ResourceDefinition;
  /** The missing effect, as the end of a sentence. */
  readonly consequence: string;
}

/**
 * Consequences by group and kind. Excludes kinds that the API server itself enforces (quotas, limits, classes) and
 * kinds that only store data. The table is also in docs/serve.md.
 */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  "apps/Deployment": "no ReplicaSets and no pods are made",
  "apps/ReplicaSet": "no pods are made",
  "apps/StatefulSet": "no pods are made",
  "apps/DaemonSet": "no pods are made",
  "/ReplicationController": "no pods are made",
  "/PersistentVolume": "nothing is bound",
  "/PersistentVolumeClaim": "nothing is bound",
  "autoscaling/HorizontalPodAutoscaler": "nothing is scaled",
  "certificates.k8s.io/CertificateSigningRequest": "nothing is signed",
  "networking.k8s.io/Ingress": "nothing is routed",
  "networking.k8s.io/NetworkPolicy": "no traffic is kept out",
};

/**
 * Returns the consequence for a kind, or `undefined` when the cluster simulates the kind or no controller is needed.
 */
export function consequenceOf({ group, kind }: Pick<ResourceDefinition, "group" | "kind">): string | undefined {
  return CONSEQUENCES[`${group}/${kind}`];
}

/** Returns the kinds of the table that the API server stores, each in one version. */
export function notSimulatedKinds(): readonly NotSimulatedKind[] {
  const kinds = new Map<string, NotSimulatedKind>();
  for (const { definition } of builtInResources()) {
    const name = `${definition.group}/${definition.kind}`;
    const consequence = consequenceOf(definition);
    if (consequence !== undefined && !kinds.has(name)) kinds.set(name, { definition, consequence });
  }
  return [...kinds.values()];
}
