export { createCluster } from "./cluster.js";
export { clusterControllers } from "./controllers.js";
export { defaultNodes } from "./nodes.js";

export type { ApiServer, AuditRecord, PathAnswer, PathHandler, StoreSnapshot } from "@kubewright/apiserver";
export type { Cluster, ClusterOptions } from "./cluster.js";
export type { ControllerName, Decision } from "./controllers.js";
export type { NodeShape } from "./nodes.js";
