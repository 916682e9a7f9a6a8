import type {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Event,
  EventsV1,
  HorizontalPodAutoscaler,
  Ingress,
  IngressClass,
  Job,
  KubernetesObject,
  Lease,
  LimitRange,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  PartialObjectMetadata,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplate,
  PriorityClass,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "./types.js";

/**
 * One resource of the API: its URL path and, at compile time only, the type of its objects. Define one for a custom
 * resource to use it with every typed client, informer and lister.
 *
 * @typeParam Input - Type of the objects that callers create, if it differs: fields with defaults are optional.
 */
export interface ResourceDefinition<T extends KubernetesObject = KubernetesObject, Input = unknown> {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs: `jobs`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Set by {@link metadataOnly}: reads request and return only the metadata of the objects. */
  readonly metadataOnly?: true;
  /** Never set: carries `T`. */
  readonly objectType?: T;
  /** Never set: carries `Input`. */
  readonly inputType?: Input;
}

/** An object that a caller creates: of the definition's input type, or of its object type if it has none. */
export type CreatedObject<T extends KubernetesObject, Input> = unknown extends Input ? T : Input;

export function defineResource<T extends KubernetesObject>(
  definition: Omit<ResourceDefinition<T>, "objectType" | "inputType">,
): ResourceDefinition<T> {
  return definition;
}

/**
 * Returns the same resource, read without everything but the metadata: the API server sends no `spec`, `status` or
 * `data`. Its informer is separate from the informer of the full objects. Writes other than patches and deletes fail.
 *
 * Upstream: `metav1.PartialObjectMetadata`, client-go metadata.
 */
export function metadataOnly({
  group,
  version,
  resource,
  kind,
  namespaced,
}: ResourceDefinition): ResourceDefinition<PartialObjectMetadata> {
  return { group, version, resource, kind, namespaced, metadataOnly: true };
}

/** Identifies a resource, its version and its representation: two definitions with the same key share one cache. */
export function definitionKey({ group, version, resource, metadataOnly: isPartial }: ResourceDefinition): string {
  return `${group}/${version}/${resource}${isPartial === true ? " metadata" : ""}`;
}

/** `batch/v1`, or just `v1` for the core group. */
export function apiVersionOf({ group, version }: Pick<ResourceDefinition, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns `jobs.batch`, or just `pods` for the core group: the resource's name in error messages. */
export function qualifiedResource({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

export const jobs = builtIn<Job>("batch/v1", "Job");
export const cronJobs = builtIn<CronJob>("batch/v1", "CronJob");
export const deployments = builtIn<Deployment>("apps/v1", "Deployment");
export const replicaSets = builtIn<ReplicaSet>("apps/v1", "ReplicaSet");
export const statefulSets = builtIn<StatefulSet>("apps/v1", "StatefulSet");
export const daemonSets = builtIn<DaemonSet>("apps/v1", "DaemonSet");
export const controllerRevisions = builtIn<ControllerRevision>("apps/v1", "ControllerRevision");
export const replicationControllers = builtIn<ReplicationController>("v1", "ReplicationController");
export const endpoints = builtIn<Endpoints>("v1", "Endpoints", true, "endpoints");
export const podTemplates = builtIn<PodTemplate>("v1", "PodTemplate");
export const endpointSlices = builtIn<EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice");
export const ingresses = builtIn<Ingress>("networking.k8s.io/v1", "Ingress");
export const ingressClasses = builtIn<IngressClass>("networking.k8s.io/v1", "IngressClass", false);
export const networkPolicies = builtIn<NetworkPolicy>("networking.k8s.io/v1", "NetworkPolicy");
export const podDisruptionBudgets = builtIn<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget");
export const horizontalPodAutoscalers = builtIn<HorizontalPodAutoscaler>("autoscaling/v2", "HorizontalPodAutoscaler");
export const certificateSigningRequests = builtIn<CertificateSigningRequest>(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  false,
);
export const runtimeClasses = builtIn<RuntimeClass>("node.k8s.io/v1", "RuntimeClass", false);
export const persistentVolumeClaims = builtIn<PersistentVolumeClaim>("v1", "PersistentVolumeClaim");
export const persistentVolumes = builtIn<PersistentVolume>("v1", "PersistentVolume", false);
export const storageClasses = builtIn<StorageClass>("storage.k8s.io/v1", "StorageClass", false);
export const resourceQuotas = builtIn<ResourceQuota>("v1", "ResourceQuota");
export const limitRanges = builtIn<LimitRange>("v1", "LimitRange");
export const priorityClasses = builtIn<PriorityClass>("scheduling.k8s.io/v1", "PriorityClass", false);
export const pods = builtIn<Pod>("v1", "Pod");
export const nodes = builtIn<Node>("v1", "Node", false);
export const namespaces = builtIn<Namespace>("v1", "Namespace", false);
export const events = builtIn<Event>("v1", "Event");
/** Another view of the same stored objects. */
export const eventsV1 = builtIn<EventsV1>("events.k8s.io/v1", "Event");
export const configMaps = builtIn<ConfigMap>("v1", "ConfigMap");
export const secrets = builtIn<Secret>("v1", "Secret");
export const services = builtIn<Service>("v1", "Service");
export const serviceAccounts = builtIn<ServiceAccount>("v1", "ServiceAccount");
export const leases = builtIn<Lease>("coordination.k8s.io/v1", "Lease");
export const customResourceDefinitions = builtIn<CustomResourceDefinition>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  false,
);
export const roles = builtIn<Role>("rbac.authorization.k8s.io/v1", "Role");
export const clusterRoles = builtIn<ClusterRole>("rbac.authorization.k8s.io/v1", "ClusterRole", false);
export const roleBindings = builtIn<RoleBinding>("rbac.authorization.k8s.io/v1", "RoleBinding");
export const clusterRoleBindings = builtIn<ClusterRoleBinding>(
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding",
  false,
);
export const mutatingWebhookConfigurations = builtIn<MutatingWebhookConfiguration>(
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration",
  false,
);
export const validatingWebhookConfigurations = builtIn<ValidatingWebhookConfiguration>(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  false,
);
export const validatingAdmissionPolicies = builtIn<ValidatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
  false,
);
export const validatingAdmissionPolicyBindings = builtIn<ValidatingAdmissionPolicyBinding>(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicyBinding",
  false,
);

/**
 * Defines a resource of Kubernetes itself. The `apiVersion` of the core group is its version.
 *
 * @param resource - Default: the plural that upstream's `UnsafeGuessKindToResource` derives from the kind.
 */
function builtIn<T extends KubernetesObject>(
  apiVersion: string,
  kind: string,
  namespaced = true,
  resource = pluralOf(kind.toLowerCase()),
): ResourceDefinition<T> {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return { group, version, resource, kind, namespaced };
}

function pluralOf(singular: string): string {
  if (singular.endsWith("y")) return `${singular.slice(0, -1)}ies`;
  return singular.endsWith("s") ? `${singular}es` : `${singular}s`;
}
