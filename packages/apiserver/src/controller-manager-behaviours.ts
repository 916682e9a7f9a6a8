import {
  type ConfigMap,
  type ResourceDefinition,
  clusterRoles,
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  serviceAccounts,
  validatingAdmissionPolicies,
} from "@kubewright/api";

import { AdmissionExpressions } from "./admission/expressions.js";
import { maintainPolicyStatus } from "./admission/policy-status.js";
import { TypeChecker } from "./admission/type-checking.js";
import { aggregateRoles } from "./authorization/role-aggregation.js";
import { jsonEqual } from "./json.js";
import { StorageProtection } from "./kinds/persistent-volume-claim/protection.js";
import { DefaultObjects } from "./default-objects.js";
import type { InternalClient } from "./internal-client.js";
import type { ServerState } from "./server-state.js";
import type { ResourceStorage } from "./storage/resource-storage.js";

const DEFAULT_ACCOUNT = "default";
const ROOT_CA = "kube-root-ca.crt";
const DESCRIPTION = "kubernetes.io/description";
const ROOT_CA_DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** The behaviours of kube-controller-manager that the server's own objects require. */
export class ControllerManagerBehaviours {
  readonly #state: ServerState;
  readonly #client: InternalClient;

  constructor(state: ServerState, client: InternalClient) {
    this.#state = state;
    this.#client = client;
  }

  /** Removes deleted PersistentVolumeClaims and PersistentVolumes when no object uses them. */
  protectStorage(): void {
    StorageProtection.start({
      clock: this.#state.clock,
      claims: this.#storage(persistentVolumeClaims),
      volumes: this.#storage(persistentVolumes),
      pods: this.#storage(pods),
    });
  }

  checkPolicies(): void {
    const { clock, registry, schemas } = this.#state;
    maintainPolicyStatus({
      clock,
      policies: this.#storage(validatingAdmissionPolicies),
      checker: new TypeChecker(registry, schemas, new AdmissionExpressions()),
      apply: (name, status) =>
        this.#client.apply(
          validatingAdmissionPolicies,
          name,
          { status },
          { subresource: "status", fieldManager: "validatingadmissionpolicy-status" },
        ),
    });
  }

  aggregateRoles(): void {
    aggregateRoles({
      clock: this.#state.clock,
      clusterRoles: this.#storage(clusterRoles),
      apply: (name, rules) =>
        this.#client.apply(clusterRoles, name, { rules }, { fieldManager: "clusterrole-aggregation-controller" }),
    });
  }

  /** Creates a ServiceAccount `default` in every namespace. */
  createDefaultServiceAccounts(): void {
    const { clock, namespaces } = this.#state;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: DEFAULT_ACCOUNT } };
    DefaultObjects.start(clock, namespaces.storage, {
      storage: this.#storage(serviceAccounts),
      name: DEFAULT_ACCOUNT,
      createOrReplace: (namespace) => this.#client.create(serviceAccounts, account, namespace),
    });
  }

  /** Publishes the authority of the server's certificate in every namespace. */
  publishRootCA(rootCA: string): void {
    const { clock, namespaces } = this.#state;
    const data = { "ca.crt": rootCA };
    DefaultObjects.start(clock, namespaces.storage, {
      storage: this.#storage(configMaps),
      name: ROOT_CA,
      isUpToDate: (object) =>
        jsonEqual((object as ConfigMap).data, data) && Boolean(object.metadata.annotations?.[DESCRIPTION]),
      createOrReplace: (namespace, existing) => {
        const { metadata = { name: ROOT_CA } } = existing?.object ?? {};
        const annotations = { ...metadata.annotations, [DESCRIPTION]: ROOT_CA_DESCRIPTION };
        const published = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, annotations }, data };
        if (existing === undefined) this.#client.create(configMaps, published, namespace);
        else this.#client.replace(configMaps, published);
      },
    });
  }

  #storage({ group, version, resource }: ResourceDefinition): ResourceStorage {
    return this.#state.registry.find(group, version, resource)!.storage;
  }
}
