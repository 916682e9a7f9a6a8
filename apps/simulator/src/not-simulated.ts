import type { ResourceDefinition } from "@kubewright/api";
import { builtInResources } from "@kubewright/apiserver";

/** A kind that the API server stores, and that no controller of the embedded cluster acts on. */
export interface NotSimulated {
  readonly definition: ResourceDefinition;
  /** What does not come of its objects, as the end of a sentence. */
  readonly lacks: string;
}

/** By group and kind. The docs have the table: docs/serve.md. */
const LACKS: Readonly<Record<string, string>> = {
  "apps/Deployment": "no ReplicaSets and no pods are made",
  "apps/ReplicaSet": "no pods are made",
  "apps/StatefulSet": "no pods are made",
  "apps/DaemonSet": "no pods are made",
  "/ReplicationController": "no pods are made",
  "autoscaling/HorizontalPodAutoscaler": "nothing is scaled",
};

/** Those of them that the API server knows, each in one version. */
export function notSimulatedKinds(): readonly NotSimulated[] {
  const kinds = new Map<string, NotSimulated>();
  for (const { definition } of builtInResources()) {
    const name = `${definition.group}/${definition.kind}`;
    const lacks = LACKS[name];
    if (lacks !== undefined && !kinds.has(name)) kinds.set(name, { definition, lacks });
  }
  return [...kinds.values()];
}
