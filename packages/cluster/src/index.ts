export { MAX_NESTING, SnapshotError, isNestedDeeper } from "@kubewright/apiserver";
export { createCluster } from "./cluster.js";
export { controllerNames } from "@kubewright/manager/kubernetes";
export { createComponents } from "./components.js";
export { createFaultyCluster } from "./faulty-cluster.js";
export { selects } from "./request-selector.js";
export { nodesFor } from "./matching-nodes.js";
export { Network } from "./network.js";
export { InvalidNodeError, defaultNodes } from "./nodes.js";

export type {
  ApiServer,
  AuditRecord,
  ContainerLogOptions,
  ContainerLogs,
  PathResponse,
  PathHandler,
  StoreChange,
  StoreSnapshot,
} from "@kubewright/apiserver";
export type { Cluster, ClusterOptions, KubeletOptions } from "./cluster.js";
export type { Components, ComponentsOptions, OtherController, OtherEnvironment } from "./components.js";
export type { ControllerName, Decision } from "@kubewright/manager/kubernetes";
export type { Faults } from "./faults.js";
export type { FaultyCluster, FaultyClusterOptions } from "./faulty-cluster.js";
export type { AddedNode, PendingPods } from "./matching-nodes.js";
export type { NetworkExchange, Delays, NetworkFault, Sender, SentRequest } from "./network.js";
export type { CrashPoint, FailingRequests } from "./request-faults.js";
export type { RequestSelector } from "./request-selector.js";
export type { StaleLists } from "./stale-lists.js";
export type { NodeShape } from "./nodes.js";
