import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of apps/v1 and of the core group's ReplicationController. */
export const appsTypes: TypeDeclarations = {
  fields: {
    Deployment: "metadata:ObjectMeta spec+:DeploymentSpec status+:DeploymentStatus | apiVersion kind",
    ReplicaSet: "metadata:ObjectMeta spec+:ReplicaSetSpec status+:ReplicaSetStatus | apiVersion kind",
    StatefulSet: "metadata:ObjectMeta spec+:StatefulSetSpec status+:StatefulSetStatus | apiVersion kind",
    DaemonSet: "metadata:ObjectMeta spec+:DaemonSetSpec status+:DaemonSetStatus | apiVersion kind",
    ControllerRevision: "| apiVersion data:any kind metadata:ObjectMeta revision!+:int64",
    ReplicationController:
      "metadata:ObjectMeta spec+:ReplicationControllerSpec status+:ReplicationControllerStatus | apiVersion kind",
    DeploymentSpec:
      "replicas:int32 selector!:LabelSelector template!+:PodTemplateSpec strategy+:DeploymentStrategy minReadySeconds?:int32 revisionHistoryLimit:int32 paused?:boolean - progressDeadlineSeconds:int32",
    DeploymentStatus:
      "observedGeneration?:int64 replicas?:int32 updatedReplicas?:int32 availableReplicas?:int32 unavailableReplicas?:int32 conditions:[type]DeploymentCondition readyReplicas?:int32 collisionCount:int32 terminatingReplicas:int32",
    ReplicaSetSpec: "replicas:int32 selector!:LabelSelector template+:PodTemplateSpec minReadySeconds?:int32",
    ReplicaSetStatus:
      "replicas!+:int32 fullyLabeledReplicas?:int32 observedGeneration?:int64 readyReplicas?:int32 availableReplicas?:int32 conditions:[type]ReplicaSetCondition terminatingReplicas:int32",
    StatefulSetSpec:
      "replicas:int32 selector!:LabelSelector template!+:PodTemplateSpec volumeClaimTemplates:[]PersistentVolumeClaim serviceName podManagementPolicy updateStrategy+:StatefulSetUpdateStrategy revisionHistoryLimit:int32 minReadySeconds?:int32 persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy ordinals:StatefulSetOrdinals",
    StatefulSetStatus:
      "observedGeneration?:int64 replicas!+:int32 readyReplicas?:int32 currentReplicas?:int32 updatedReplicas?:int32 currentRevision updateRevision - collisionCount:int32 conditions:[type]StatefulSetCondition availableReplicas+:int32",
    DaemonSetSpec:
      "selector!:LabelSelector template!+:PodTemplateSpec updateStrategy+:DaemonSetUpdateStrategy minReadySeconds?:int32 - revisionHistoryLimit:int32",
    DaemonSetStatus:
      "currentNumberScheduled!+:int32 numberMisscheduled!+:int32 desiredNumberScheduled!+:int32 numberReady!+:int32 observedGeneration?:int64 updatedNumberScheduled?:int32 numberAvailable?:int32 numberUnavailable?:int32 collisionCount:int32 conditions:[type]DaemonSetCondition",
    ReplicationControllerSpec: "replicas:int32 selector:{atomic}string template:PodTemplateSpec minReadySeconds?:int32",
    ReplicationControllerStatus:
      "replicas!+:int32 fullyLabeledReplicas?:int32 observedGeneration?:int64 readyReplicas?:int32 availableReplicas?:int32 conditions:[type]ReplicationControllerCondition",
    DeploymentStrategy: "type rollingUpdate:RollingUpdateDeployment",
    DeploymentCondition: "type!+ status!+ - reason message lastUpdateTime+:time lastTransitionTime+:time",
    ReplicaSetCondition: "type!+ status!+ lastTransitionTime+:time reason message",
    StatefulSetOrdinals: "start+:int32",
    StatefulSetPersistentVolumeClaimRetentionPolicy: "whenDeleted whenScaled",
    StatefulSetUpdateStrategy: "type rollingUpdate:RollingUpdateStatefulSetStrategy",
    StatefulSetCondition: "type!+ status!+ lastTransitionTime+:time reason message",
    DaemonSetUpdateStrategy: "type rollingUpdate:RollingUpdateDaemonSet",
    DaemonSetCondition: "type!+ status!+ lastTransitionTime+:time reason message",
    ReplicationControllerCondition: "type!+ status!+ lastTransitionTime+:time reason message",
    RollingUpdateDeployment: "maxUnavailable:intOrString maxSurge:intOrString",
    RollingUpdateStatefulSetStrategy: "partition:int32 maxUnavailable:intOrString",
    RollingUpdateDaemonSet: "maxUnavailable:intOrString maxSurge:intOrString",
  },
};
