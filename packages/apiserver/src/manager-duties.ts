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
import { keepPolicyStatus } from "./admission/policy-status.js";
import { TypeChecker } from "./admission/type-checking.js";
import { aggregateRoles } from "./authorization/role-aggregation.js";
import { jsonEqual } from "./json.js";
import { StorageProtection } from "./kinds/persistent-volume-claim/protection.js";
import { NamespaceFurniture } from "./namespace-furniture.js";
import type { OwnWriter } from "./own-writer.js";
import type { ServerState } from "./server-state.js";
import type { ResourceStorage } from "./storage/resource-storage.js";

const DEFAULT_ACCOUNT = "default";
const ROOT_CA = "kube-root-ca.crt";
const DESCRIPTION = "kubernetes.io/description";
const ROOT_CA_DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** What a server does that is kube-controller-manager's in a real cluster, because its own objects cannot do without. */
export class ManagerDuties {
  readonly #state: ServerState;
  readonly #writer: OwnWriter;

  constructor(state: ServerState, writer: OwnWriter) {
    this.#state = state;
    this.#writer = writer;
  }

  /** Deleted claims and volumes go when nobody uses them. */
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
    keepPolicyStatus({
      clock,
      policies: this.#storage(validatingAdmissionPolicies),
      checker: new TypeChecker(registry, schemas, new AdmissionExpressions()),
      apply: (name, status) =>
        this.#writer.apply(
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
        this.#writer.apply(clusterRoles, name, { rules }, { fieldManager: "clusterrole-aggregation-controller" }),
    });
  }

  /** A ServiceAccount `default` in every namespace. */
  makeAccounts(): void {
    const { clock, namespaces } = this.#state;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: DEFAULT_ACCOUNT } };
    NamespaceFurniture.start(clock, namespaces.storage, {
      storage: this.#storage(serviceAccounts),
      name: DEFAULT_ACCOUNT,
      put: (namespace) => this.#writer.create(serviceAccounts, account, namespace),
    });
  }

  /** The authority that the server's certificate is of, in every namespace. */
  publish(rootCA: string): void {
    const { clock, namespaces } = this.#state;
    const data = { "ca.crt": rootCA };
    NamespaceFurniture.start(clock, namespaces.storage, {
      storage: this.#storage(configMaps),
      name: ROOT_CA,
      isSound: (object) =>
        jsonEqual((object as ConfigMap).data, data) && Boolean(object.metadata.annotations?.[DESCRIPTION]),
      put: (namespace, present) => {
        const { metadata = { name: ROOT_CA } } = present?.object ?? {};
        const annotations = { ...metadata.annotations, [DESCRIPTION]: ROOT_CA_DESCRIPTION };
        const published = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, annotations }, data };
        if (present === undefined) this.#writer.create(configMaps, published, namespace);
        else this.#writer.replace(configMaps, published);
      },
    });
  }

  #storage({ group, version, resource }: ResourceDefinition): ResourceStorage {
    return this.#state.registry.find(group, version, resource)!.storage;
  }
}
