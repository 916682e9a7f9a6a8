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
 */
export interface ResourceDefinition<T extends KubernetesObject = KubernetesObject> {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs: `jobs`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: carries `T`. */
  readonly objectType?: T;
}

export function defineResource<T extends KubernetesObject>(
  definition: Omit<ResourceDefinition<T>, "objectType">,
): ResourceDefinition<T> {
  return definition;
}

/** `batch/v1`, or just `v1` for the core group. */
export function apiVersionOf({ group, version }: Pick<ResourceDefinition, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns `jobs.batch`, or just `pods` for the core group: the resource's name in error messages. */
export function qualifiedResource({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

export const jobs = defineResource<Job>({
  group: "batch",
  version: "v1",
  resource: "jobs",
  kind: "Job",
  namespaced: true,
});
export const cronJobs = defineResource<CronJob>({
  group: "batch",
  version: "v1",
  resource: "cronjobs",
  kind: "CronJob",
  namespaced: true,
});
export const deployments = defineResource<Deployment>({
  group: "apps",
  version: "v1",
  resource: "deployments",
  kind: "Deployment",
  namespaced: true,
});
export const replicaSets = defineResource<ReplicaSet>({
  group: "apps",
  version: "v1",
  resource: "replicasets",
  kind: "ReplicaSet",
  namespaced: true,
});
export const statefulSets = defineResource<StatefulSet>({
  group: "apps",
  version: "v1",
  resource: "statefulsets",
  kind: "StatefulSet",
  namespaced: true,
});
export const daemonSets = defineResource<DaemonSet>({
  group: "apps",
  version: "v1",
  resource: "daemonsets",
  kind: "DaemonSet",
  namespaced: true,
});
export const controllerRevisions = defineResource<ControllerRevision>({
  group: "apps",
  version: "v1",
  resource: "controllerrevisions",
  kind: "ControllerRevision",
  namespaced: true,
});
export const replicationControllers = defineResource<ReplicationController>({
  group: "",
  version: "v1",
  resource: "replicationcontrollers",
  kind: "ReplicationController",
  namespaced: true,
});
export const endpoints = defineResource<Endpoints>({
  group: "",
  version: "v1",
  resource: "endpoints",
  kind: "Endpoints",
  namespaced: true,
});
export const podTemplates = defineResource<PodTemplate>({
  group: "",
  version: "v1",
  resource: "podtemplates",
  kind: "PodTemplate",
  namespaced: true,
});
export const endpointSlices = defineResource<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  resource: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
});
export const ingresses = defineResource<Ingress>({
  group: "networking.k8s.io",
  version: "v1",
  resource: "ingresses",
  kind: "Ingress",
  namespaced: true,
});
export const ingressClasses = defineResource<IngressClass>({
  group: "networking.k8s.io",
  version: "v1",
  resource: "ingressclasses",
  kind: "IngressClass",
  namespaced: false,
});
export const networkPolicies = defineResource<NetworkPolicy>({
  group: "networking.k8s.io",
  version: "v1",
  resource: "networkpolicies",
  kind: "NetworkPolicy",
  namespaced: true,
});
export const podDisruptionBudgets = defineResource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  resource: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
});
export const horizontalPodAutoscalers = defineResource<HorizontalPodAutoscaler>({
  group: "autoscaling",
  version: "v2",
  resource: "horizontalpodautoscalers",
  kind: "HorizontalPodAutoscaler",
  namespaced: true,
});
export const certificateSigningRequests = defineResource<CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  resource: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  namespaced: false,
});
export const runtimeClasses = defineResource<RuntimeClass>({
  group: "node.k8s.io",
  version: "v1",
  resource: "runtimeclasses",
  kind: "RuntimeClass",
  namespaced: false,
});
export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  resource: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
});
export const persistentVolumes = defineResource<PersistentVolume>({
  group: "",
  version: "v1",
  resource: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
export const storageClasses = defineResource<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  resource: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
});
export const resourceQuotas = defineResource<ResourceQuota>({
  group: "",
  version: "v1",
  resource: "resourcequotas",
  kind: "ResourceQuota",
  namespaced: true,
});
export const limitRanges = defineResource<LimitRange>({
  group: "",
  version: "v1",
  resource: "limitranges",
  kind: "LimitRange",
  namespaced: true,
});
export const priorityClasses = defineResource<PriorityClass>({
  group: "scheduling.k8s.io",
  version: "v1",
  resource: "priorityclasses",
  kind: "PriorityClass",
  namespaced: false,
});
export const pods = defineResource<Pod>({ group: "", version: "v1", resource: "pods", kind: "Pod", namespaced: true });
export const nodes = defineResource<Node>({
  group: "",
  version: "v1",
  resource: "nodes",
  kind: "Node",
  namespaced: false,
});
export const namespaces = defineResource<Namespace>({
  group: "",
  version: "v1",
  resource: "namespaces",
  kind: "Namespace",
  namespaced: false,
});
export const events = defineResource<Event>({
  group: "",
  version: "v1",
  resource: "events",
  kind: "Event",
  namespaced: true,
});
export const configMaps = defineResource<ConfigMap>({
  group: "",
  version: "v1",
  resource: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
});
export const secrets = defineResource<Secret>({
  group: "",
  version: "v1",
  resource: "secrets",
  kind: "Secret",
  namespaced: true,
});
export const services = defineResource<Service>({
  group: "",
  version: "v1",
  resource: "services",
  kind: "Service",
  namespaced: true,
});
export const serviceAccounts = defineResource<ServiceAccount>({
  group: "",
  version: "v1",
  resource: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
});
export const leases = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  resource: "leases",
  kind: "Lease",
  namespaced: true,
});
export const customResourceDefinitions = defineResource<CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  resource: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});
export const roles = defineResource<Role>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "roles",
  kind: "Role",
  namespaced: true,
});
export const clusterRoles = defineResource<ClusterRole>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "clusterroles",
  kind: "ClusterRole",
  namespaced: false,
});
export const roleBindings = defineResource<RoleBinding>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "rolebindings",
  kind: "RoleBinding",
  namespaced: true,
});
export const clusterRoleBindings = defineResource<ClusterRoleBinding>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "clusterrolebindings",
  kind: "ClusterRoleBinding",
  namespaced: false,
});
export const mutatingWebhookConfigurations = defineResource<MutatingWebhookConfiguration>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  resource: "mutatingwebhookconfigurations",
  kind: "MutatingWebhookConfiguration",
  namespaced: false,
});
export const validatingWebhookConfigurations = defineResource<ValidatingWebhookConfiguration>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  resource: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
  namespaced: false,
});
export const validatingAdmissionPolicies = defineResource<ValidatingAdmissionPolicy>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  resource: "validatingadmissionpolicies",
  kind: "ValidatingAdmissionPolicy",
  namespaced: false,
});
export const validatingAdmissionPolicyBindings = defineResource<ValidatingAdmissionPolicyBinding>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  resource: "validatingadmissionpolicybindings",
  kind: "ValidatingAdmissionPolicyBinding",
  namespaced: false,
});
