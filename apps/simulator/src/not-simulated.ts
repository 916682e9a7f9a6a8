import type { ResourceDefinition } from "@kubewright/api";
import { builtInResources } from "@kubewright/apiserver";

/** A kind that the API server stores, and that no controller of the embedded cluster acts on. */
export interface NotSimulatedKind {
  readonly definition: ResourceDefinition;
  /** What does not come of its objects, as the end of a sentence. */
  readonly consequence: string;
}

/**
 * By group and kind. Kinds that work by themselves, as the API server goes by them (quotas, limits, classes), and such as
 * only hold data are not among them. The docs have the table: docs/serve.md.
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

/** What does not come of objects of that kind; `undefined` where something here acts on them, or nothing has to. */
export function consequenceOf({ group, kind }: Pick<ResourceDefinition, "group" | "kind">): string | undefined {
  return CONSEQUENCES[`${group}/${kind}`];
}

/** Those of them that the API server knows, each in one version. */
export function notSimulatedKinds(): readonly NotSimulatedKind[] {
  const kinds = new Map<string, NotSimulatedKind>();
  for (const { definition } of builtInResources()) {
    const name = `${definition.group}/${definition.kind}`;
    const consequence = consequenceOf(definition);
    if (consequence !== undefined && !kinds.has(name)) kinds.set(name, { definition, consequence });
  }
  return [...kinds.values()];
}
