import type { ResourceDefinition } from "@kubewright/api";
import { builtInResources } from "@kubewright/apiserver";

/** A kind that the API server stores, and that no controller of the embedded cluster acts on. */
export interface NotSimulated {
  readonly definition: ResourceDefinition;
  /** What does not come of its objects, as the end of a sentence. */
  readonly lacks: string;
}

/**
 * By group and kind. Kinds that work by themselves, as the API server goes by them (quotas, limits, classes), and such as
 * only hold data are not among them. The docs have the table: docs/serve.md.
 */
const LACKS: Readonly<Record<string, string>> = {
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
export function whatIsLacking({ group, kind }: Pick<ResourceDefinition, "group" | "kind">): string | undefined {
  return LACKS[`${group}/${kind}`];
}

/** Those of them that the API server knows, each in one version. */
export function notSimulatedKinds(): readonly NotSimulated[] {
  const kinds = new Map<string, NotSimulated>();
  for (const { definition } of builtInResources()) {
    const name = `${definition.group}/${definition.kind}`;
    const lacks = whatIsLacking(definition);
    if (lacks !== undefined && !kinds.has(name)) kinds.set(name, { definition, lacks });
  }
  return [...kinds.values()];
}
