export {
  type FinishedCondition,
  findCondition,
  finishedCondition,
  isConditionTrue,
  isJobFinished,
} from "./conditions.js";
export {
  KUBERNETES_VERSIONS,
  NEWEST_VERSION,
  behavioursOf,
  closestVersion,
  gitVersionOf,
  newestBehaviours,
  parseServerVersion,
} from "./kubernetes-version.js";
export { formatLabelSelector, labelSelectorMatcher } from "./label-selector.js";
export { keyOf, objectKey, splitObjectKey } from "./object-key.js";
export { getControllerOf, isControlledBy, newControllerRef } from "./owner-reference.js";
export { deepFreeze, mutableCopy } from "./readonly.js";
export { compareResourceVersions } from "./resource-version.js";
export {
  apiVersionOf,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  controllerRevisions,
  cronJobs,
  customResourceDefinitions,
  daemonSets,
  defineResource,
  deployments,
  events,
  jobs,
  leases,
  namespaces,
  nodes,
  pods,
  qualifiedResource,
  replicaSets,
  replicationControllers,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "./resource.js";
export { isStatus } from "./status.js";
export { compareTimes, formatMicroTime, formatTime, parseTime, secondsAsDurationMs } from "./time.js";
export {
  CONTROLLER_UID_LABEL,
  CRONJOB_INSTANTIATE_ANNOTATION,
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  FOREGROUND_DELETION_FINALIZER,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_CONTROLLER_NAME,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_TRACKING_FINALIZER,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
  ORPHAN_FINALIZER,
} from "./well-known.js";

export type { ClosestVersion, KubernetesVersion, ServerVersion, VersionBehaviours } from "./kubernetes-version.js";
export type { LabelMatcher } from "./label-selector.js";
export type { Brand, NamespacedName, ObjectKey, UID } from "./object-key.js";
export type { DeepMutable, DeepReadonly } from "./readonly.js";
export type { ResourceDefinition } from "./resource.js";
export type { Status, StatusCause, StatusDetails, StatusReason } from "./status.js";
export type {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Container,
  ContainerState,
  ContainerStatus,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Event,
  EventsV1,
  Job,
  JobCondition,
  JobSpec,
  JobStatus,
  JobTemplateSpec,
  KubernetesObject,
  LabelSelector,
  Lease,
  List,
  Namespace,
  Node,
  ObjectMeta,
  ObjectReference,
  OwnerReference,
  PersistentVolumeClaim,
  Pod,
  PodCondition,
  PodFailurePolicy,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  PolicyRule,
  ReplicaSet,
  ReplicationController,
  Role,
  RoleBinding,
  RoleRef,
  RoleSubject,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  TokenRequest,
  UnstructuredObject,
} from "./types.js";
export type { WatchEvent } from "./watch-event.js";
export type { Wire } from "./wire.js";
