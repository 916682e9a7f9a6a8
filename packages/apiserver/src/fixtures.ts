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
import type { OwnWriter } from "./own-writer.js";
import type { ResourceRegistry } from "./resource-registry.js";

/** Something that a cluster always has. */
interface Fixture {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly object: DeepReadonly<KubernetesObject> & { readonly metadata: { readonly name: string } };
  /** Milliseconds until it is there again, when somebody deleted it. */
  readonly restoredAfterMs: number;
}

/** Upstream: `pkg/controlplane/controller/systemnamespaces`, and `kubernetesservice` of the first. */
const NAMESPACES: readonly Fixture[] = ["default", "kube-system", "kube-public", "kube-node-lease"].map((name) => ({
  definition: namespaces,
  namespace: "",
  object: { apiVersion: "v1", kind: "Namespace", metadata: { name } } satisfies Namespace,
  restoredAfterMs: 60_000,
}));

/** Upstream: `pkg/controlplane/controller/kubernetesservice`. Nothing answers at its address here. */
const SERVICE: Fixture = {
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
  } satisfies Service as Fixture["object"],
  restoredAfterMs: 10_000,
};

/**
 * Makes the namespaces that every cluster has and, in one that is furnished, the Service `kubernetes`; and again when somebody
 * deleted one, as `kubectl delete all --all` does: after as long as the API server upstream takes at the most to notice.
 */
export function makeFixtures(clock: Clock, registry: ResourceRegistry, writer: OwnWriter, furnished: boolean): void {
  for (const { definition, namespace, object, restoredAfterMs } of furnished ? [...NAMESPACES, SERVICE] : NAMESPACES) {
    const make = (): void => writer.create(definition, object, namespace);
    make();
    const { storage } = registry.find(definition.group, definition.version, definition.resource)!;
    storage.follow({
      onChange: ({ current, subject }) => {
        if (current === undefined && subject.name === object.metadata.name && subject.namespace === namespace)
          clock.setTimer(restoredAfterMs, make, { background: true });
      },
    });
  }
}
