import type {
  AuthenticationV1TokenRequest,
  CoreV1Event,
  EventsV1Event,
  RbacV1Subject,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1Container,
  V1ContainerState,
  V1ContainerStatus,
  V1ControllerRevision,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Endpoints,
  V1HorizontalPodAutoscaler,
  V1Ingress,
  V1IngressClass,
  V1Job,
  V1JobCondition,
  V1JobSpec,
  V1JobStatus,
  V1JobTemplateSpec,
  V1LabelSelector,
  V1Lease,
  V1LimitRange,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1ObjectMeta,
  V1ObjectReference,
  V1OwnerReference,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodCondition,
  V1PodDisruptionBudget,
  V1PodFailurePolicy,
  V1PodSpec,
  V1PodStatus,
  V1PodTemplate,
  V1PodTemplateSpec,
  V1PolicyRule,
  V1PriorityClass,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceQuota,
  V1Role,
  V1RoleBinding,
  V1RoleRef,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingWebhookConfiguration,
  V2HorizontalPodAutoscaler,
} from "../models.js";

export type ObjectMeta = V1ObjectMeta;
export type OwnerReference = V1OwnerReference;
export type ObjectReference = V1ObjectReference;
export type LabelSelector = V1LabelSelector;

/**
 * Any Kubernetes object. Items of typed lists have no `apiVersion` and `kind`, so code that knows the type must not
 * depend on them.
 */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** A custom resource, or any object whose type is unknown. */
export interface UnstructuredObject extends KubernetesObject {
  [member: string]: unknown;
}

/**
 * A top-level kind: its model, with the metadata that every stored object has. To add a kind: `type X = TopLevel<V1X>`.
 */
type TopLevel<Model> = KubernetesObject & Omit<Model, "apiVersion" | "kind" | "metadata">;

export type Job = TopLevel<V1Job>;
export type JobSpec = V1JobSpec;
export type JobStatus = V1JobStatus;
export type JobCondition = V1JobCondition;
export type JobTemplateSpec = V1JobTemplateSpec;
export type PodFailurePolicy = V1PodFailurePolicy;
export type CronJob = TopLevel<V1CronJob>;
export type Deployment = TopLevel<V1Deployment>;
export type ReplicaSet = TopLevel<V1ReplicaSet>;
export type StatefulSet = TopLevel<V1StatefulSet>;
export type DaemonSet = TopLevel<V1DaemonSet>;
export type ControllerRevision = TopLevel<V1ControllerRevision>;
export type ReplicationController = TopLevel<V1ReplicationController>;
export type Endpoints = TopLevel<V1Endpoints>;
export type EndpointSlice = TopLevel<V1EndpointSlice>;
export type Ingress = TopLevel<V1Ingress>;
export type IngressClass = TopLevel<V1IngressClass>;
export type NetworkPolicy = TopLevel<V1NetworkPolicy>;
export type PodDisruptionBudget = TopLevel<V1PodDisruptionBudget>;
/** An autoscaling/v2 HorizontalPodAutoscaler. */
export type HorizontalPodAutoscaler = TopLevel<V2HorizontalPodAutoscaler>;
/** An autoscaling/v1 HorizontalPodAutoscaler: another view of the same stored object. */
export type HorizontalPodAutoscalerV1 = TopLevel<V1HorizontalPodAutoscaler>;
export type PodTemplate = TopLevel<V1PodTemplate>;
export type CertificateSigningRequest = TopLevel<V1CertificateSigningRequest>;
export type RuntimeClass = TopLevel<V1RuntimeClass>;
export type PersistentVolumeClaim = TopLevel<V1PersistentVolumeClaim>;
export type PersistentVolume = TopLevel<V1PersistentVolume>;
export type StorageClass = TopLevel<V1StorageClass>;
export type ResourceQuota = TopLevel<V1ResourceQuota>;
export type LimitRange = TopLevel<V1LimitRange>;
export type PriorityClass = TopLevel<V1PriorityClass>;
export type Pod = TopLevel<V1Pod>;
export type PodSpec = V1PodSpec;
export type PodStatus = V1PodStatus;
export type PodCondition = V1PodCondition;
export type PodTemplateSpec = V1PodTemplateSpec;
export type Container = V1Container;
export type ContainerStatus = V1ContainerStatus;
export type ContainerState = V1ContainerState;
export type Node = TopLevel<V1Node>;
export type Namespace = TopLevel<V1Namespace>;
export type ConfigMap = TopLevel<V1ConfigMap>;
export type Secret = TopLevel<V1Secret>;
export type Service = TopLevel<V1Service>;
export type ServiceAccount = TopLevel<V1ServiceAccount>;
export type Lease = TopLevel<V1Lease>;
/** The metadata of an object of any kind: see `metadataOnly`. */
export type PartialObjectMetadata = KubernetesObject & {
  readonly spec?: never;
  readonly status?: never;
  readonly data?: never;
};
/** A core/v1 Event. */
export type Event = TopLevel<CoreV1Event>;
/** An events.k8s.io/v1 Event: another view of the same stored object. */
export type EventsV1 = TopLevel<EventsV1Event>;
export type CustomResourceDefinition = TopLevel<V1CustomResourceDefinition>;
export type PolicyRule = V1PolicyRule;
export type MutatingWebhookConfiguration = TopLevel<V1MutatingWebhookConfiguration>;
export type ValidatingWebhookConfiguration = TopLevel<V1ValidatingWebhookConfiguration>;
export type ValidatingAdmissionPolicy = TopLevel<V1ValidatingAdmissionPolicy>;
export type ValidatingAdmissionPolicyBinding = TopLevel<V1ValidatingAdmissionPolicyBinding>;
export type Role = TopLevel<V1Role>;
export type ClusterRole = TopLevel<V1ClusterRole>;
export type RoleRef = V1RoleRef;
/** The subject of a RoleBinding or ClusterRoleBinding. */
export type RoleSubject = RbacV1Subject;
export type RoleBinding = TopLevel<V1RoleBinding>;
export type ClusterRoleBinding = TopLevel<V1ClusterRoleBinding>;
/** Request and response of a ServiceAccount's `token` subresource. */
export type TokenRequest = TopLevel<AuthenticationV1TokenRequest>;

/** The response to a list request. */
export interface List<T> {
  apiVersion?: string;
  kind?: string;
  metadata: {
    resourceVersion: string;
    continue?: string;
    remainingItemCount?: number;
    /** Set when the server left out objects of other shards: the selector in its canonical form. */
    shardInfo?: { selector: string };
  };
  items: T[];
}
