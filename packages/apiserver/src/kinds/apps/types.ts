import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

const CONDITION = "type,status,lastTransitionTime,reason,message";
const CONDITIONS = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController"];

function forEachWorkload<T>(field: string, value: T): Record<string, T> {
  return Object.fromEntries(CONDITIONS.map((kind) => [`${kind}${field}`, value]));
}

/** The types of apps/v1 and of the core group's ReplicationController. */
export const appsTypes: TypeDeclarations = {
  fields,
  rules: {
    patchMergeKeys: forEachWorkload("Status.conditions", "type"),
    listTypes: forEachWorkload("Status.conditions", "type"),
    atomicMaps: new Set(["ReplicationControllerSpec.selector"]),
    presentWhenZero: {
      ...forEachWorkload(".spec", {}),
      ...forEachWorkload(".status", {}),
      "ControllerRevision.revision": 0,
      "DeploymentSpec.template": {},
      "DeploymentSpec.strategy": {},
      "DeploymentCondition.lastUpdateTime": null,
      ...forEachWorkload("Condition.lastTransitionTime", null),
      ...forEachWorkload("Condition.type", ""),
      ...forEachWorkload("Condition.status", ""),
      "ReplicaSetSpec.template": {},
      "ReplicaSetStatus.replicas": 0,
      "ReplicationControllerStatus.replicas": 0,
      "StatefulSetSpec.template": {},
      "StatefulSetSpec.updateStrategy": {},
      "StatefulSetStatus.replicas": 0,
      "StatefulSetStatus.availableReplicas": 0,
      "StatefulSetOrdinals.start": 0,
      "DaemonSetSpec.template": {},
      "DaemonSetSpec.updateStrategy": {},
      "DaemonSetStatus.currentNumberScheduled": 0,
      "DaemonSetStatus.numberMisscheduled": 0,
      "DaemonSetStatus.desiredNumberScheduled": 0,
      "DaemonSetStatus.numberReady": 0,
    },
    dropsZero: new Set([
      "DeploymentSpec.minReadySeconds",
      "DeploymentSpec.paused",
      "DeploymentStatus.observedGeneration",
      "DeploymentStatus.replicas",
      "DeploymentStatus.updatedReplicas",
      "DeploymentStatus.readyReplicas",
      "DeploymentStatus.availableReplicas",
      "DeploymentStatus.unavailableReplicas",
      "ReplicaSetSpec.minReadySeconds",
      "ReplicaSetStatus.fullyLabeledReplicas",
      "ReplicaSetStatus.readyReplicas",
      "ReplicaSetStatus.availableReplicas",
      "ReplicaSetStatus.observedGeneration",
      "ReplicationControllerSpec.minReadySeconds",
      "ReplicationControllerStatus.fullyLabeledReplicas",
      "ReplicationControllerStatus.readyReplicas",
      "ReplicationControllerStatus.availableReplicas",
      "ReplicationControllerStatus.observedGeneration",
      "StatefulSetSpec.minReadySeconds",
      "StatefulSetStatus.observedGeneration",
      "StatefulSetStatus.readyReplicas",
      "StatefulSetStatus.currentReplicas",
      "StatefulSetStatus.updatedReplicas",
      "DaemonSetSpec.minReadySeconds",
      "DaemonSetStatus.observedGeneration",
      "DaemonSetStatus.updatedNumberScheduled",
      "DaemonSetStatus.numberAvailable",
      "DaemonSetStatus.numberUnavailable",
    ]),
  },
  fieldNumbers: {
    Deployment: "metadata,spec,status",
    DeploymentSpec:
      "replicas,selector,template,strategy,minReadySeconds,revisionHistoryLimit,paused,,progressDeadlineSeconds",
    DeploymentStatus:
      "observedGeneration,replicas,updatedReplicas,availableReplicas,unavailableReplicas,conditions,readyReplicas,collisionCount,terminatingReplicas",
    DeploymentCondition: "type,status,,reason,message,lastUpdateTime,lastTransitionTime",
    DeploymentStrategy: "type,rollingUpdate",
    RollingUpdateDeployment: "maxUnavailable,maxSurge",
    ReplicaSet: "metadata,spec,status",
    ReplicaSetSpec: "replicas,selector,template,minReadySeconds",
    ReplicaSetStatus:
      "replicas,fullyLabeledReplicas,observedGeneration,readyReplicas,availableReplicas,conditions,terminatingReplicas",
    ReplicaSetCondition: CONDITION,
    StatefulSet: "metadata,spec,status",
    StatefulSetSpec:
      "replicas,selector,template,volumeClaimTemplates,serviceName,podManagementPolicy,updateStrategy,revisionHistoryLimit,minReadySeconds,persistentVolumeClaimRetentionPolicy,ordinals",
    StatefulSetStatus:
      "observedGeneration,replicas,readyReplicas,currentReplicas,updatedReplicas,currentRevision,updateRevision,,collisionCount,conditions,availableReplicas",
    StatefulSetCondition: CONDITION,
    StatefulSetUpdateStrategy: "type,rollingUpdate",
    RollingUpdateStatefulSetStrategy: "partition,maxUnavailable",
    StatefulSetPersistentVolumeClaimRetentionPolicy: "whenDeleted,whenScaled",
    StatefulSetOrdinals: "start",
    DaemonSet: "metadata,spec,status",
    DaemonSetSpec: "selector,template,updateStrategy,minReadySeconds,,revisionHistoryLimit",
    DaemonSetStatus:
      "currentNumberScheduled,numberMisscheduled,desiredNumberScheduled,numberReady,observedGeneration,updatedNumberScheduled,numberAvailable,numberUnavailable,collisionCount,conditions",
    DaemonSetCondition: CONDITION,
    DaemonSetUpdateStrategy: "type,rollingUpdate",
    RollingUpdateDaemonSet: "maxUnavailable,maxSurge",
    ReplicationController: "metadata,spec,status",
    ReplicationControllerSpec: "replicas,selector,template,minReadySeconds",
    ReplicationControllerStatus:
      "replicas,fullyLabeledReplicas,observedGeneration,readyReplicas,availableReplicas,conditions",
    ReplicationControllerCondition: CONDITION,
  },
};
