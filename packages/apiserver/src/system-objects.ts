import {
  type Namespace,
  type ResourceDefinition,
  type Service,
  type DeepReadonly,
  type KubernetesObject,
  namespaces,
  services,
} from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { FIRST_SERVICE_ADDRESS } from "./kinds/service/allocation.js";
import type { InternalClient } from "./internal-client.js";
import type { ResourceRegistry } from "./resource-registry.js";

/** An object that every cluster has. */
interface SystemObject {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly object: DeepReadonly<KubernetesObject> & { readonly metadata: { readonly name: string } };
  /** Milliseconds from its deletion until the server recreates it. */
  readonly recreateAfterMs: number;
}

/** Upstream: `pkg/controlplane/controller/systemnamespaces`; for the namespace `default`, `kubernetesservice`. */
const NAMESPACES: readonly SystemObject[] = ["default", "kube-system", "kube-public", "kube-node-lease"].map(
  (name) => ({
    definition: namespaces,
    namespace: "",
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name } } satisfies Namespace,
    recreateAfterMs: 60_000,
  }),
);

/** Upstream: `pkg/controlplane/controller/kubernetesservice`. No server listens at its address here. */
const SERVICE: SystemObject = {
  definition: services,
  namespace: "default",
  object: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: FIRST_SERVICE_ADDRESS,
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
    },
  } satisfies Service as SystemObject["object"],
  recreateAfterMs: 10_000,
};

/**
 * Creates the system namespaces and, with `createDefaultObjects`, the Service `kubernetes`. Recreates one that is
 * deleted, for example by `kubectl delete all --all`. The delay is the longest time that upstream's API server needs to
 * notice.
 */
export function createSystemObjects(
  clock: Clock,
  registry: ResourceRegistry,
  client: InternalClient,
  createDefaultObjects: boolean,
): void {
  for (const { definition, namespace, object, recreateAfterMs } of createDefaultObjects
    ? [...NAMESPACES, SERVICE]
    : NAMESPACES) {
    const create = (): void => client.create(definition, object, namespace);
    create();
    const { storage } = registry.find(definition.group, definition.version, definition.resource)!;
    storage.follow({
      onChange: ({ current, subject }) => {
        if (current === undefined && subject.name === object.metadata.name && subject.namespace === namespace)
          clock.setTimer(recreateAfterMs, create, { background: true });
      },
    });
  }
}
