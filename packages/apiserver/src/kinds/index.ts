import { type VersionBehaviours, newestBehaviours } from "@kubewright/api";

import type { BuiltInResource } from "../built-in-resource.js";
import { validatingAdmissionPolicyBindingResource } from "./admissionregistration/policy-binding.js";
import { validatingAdmissionPolicyResource } from "./admissionregistration/policy.js";
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from "./admissionregistration/webhook-configuration.js";
import { controllerRevisionResource } from "./apps/controller-revision.js";
import { daemonSetResource } from "./apps/daemon-set.js";
import { deploymentResource } from "./apps/deployment.js";
import { replicaSetResource } from "./apps/replica-set.js";
import { replicationControllerResource } from "./apps/replication-controller.js";
import { statefulSetResource } from "./apps/stateful-set.js";
import {
  horizontalPodAutoscalerResource,
  horizontalPodAutoscalerV1Resource,
} from "./autoscaling/horizontal-pod-autoscaler.js";
import { certificateSigningRequestResource } from "./certificates/certificate-signing-request.js";
import { configMapResource } from "./config-map.js";
import { cronJobResource } from "./cronjob/strategy.js";
import { customResourceDefinitionResource } from "./custom-resource-definition/strategy.js";
import { eventResource, eventsV1Resource } from "./event/strategy.js";
import { jobResource } from "./job/strategy.js";
import { endpointSliceResource } from "./endpoints/endpoint-slice.js";
import { endpointsResource } from "./endpoints/endpoints.js";
import { limitRangeResource } from "./limit-range/strategy.js";
import { leaseResource } from "./lease.js";
import { ingressClassResource } from "./networking/ingress-class.js";
import { ingressResource } from "./networking/ingress.js";
import { networkPolicyResource } from "./networking/network-policy.js";
import { namespaceResource } from "./namespace/strategy.js";
import { nodeResource } from "./node.js";
import { podTemplateResource } from "./pod-template.js";
import { podDisruptionBudgetResource } from "./policy/pod-disruption-budget.js";
import { persistentVolumeClaimResource } from "./persistent-volume-claim/strategy.js";
import { persistentVolumeResource } from "./persistent-volume/strategy.js";
import { podResource } from "./pod/strategy.js";
import { priorityClassResource } from "./priority-class/strategy.js";
import { runtimeClassResource } from "./runtime-class.js";
import { clusterRoleBindingResource, roleBindingResource } from "./rbac/role-binding.js";
import { clusterRoleResource, roleResource } from "./rbac/role.js";
import { resourceQuotaResource } from "./resource-quota/strategy.js";
import { secretResource } from "./secret.js";
import { serviceAccountResource } from "./service-account/strategy.js";
import { serviceResource } from "./service/strategy.js";
import { storageClassResource } from "./storage-class/strategy.js";

/** Returns all built-in resources: groups in discovery order, then by name. */
export function builtInResources(behaviours: VersionBehaviours = newestBehaviours): readonly BuiltInResource[] {
  return [
    configMapResource,
    endpointsResource,
    eventResource,
    limitRangeResource,
    namespaceResource,
    nodeResource,
    persistentVolumeClaimResource,
    persistentVolumeResource,
    podResource,
    podTemplateResource,
    replicationControllerResource,
    resourceQuotaResource,
    secretResource,
    serviceAccountResource,
    serviceResource,
    eventsV1Resource,
    controllerRevisionResource,
    daemonSetResource,
    deploymentResource,
    replicaSetResource,
    statefulSetResource,
    horizontalPodAutoscalerResource,
    horizontalPodAutoscalerV1Resource,
    cronJobResource,
    jobResource(behaviours),
    certificateSigningRequestResource,
    ingressClassResource,
    ingressResource,
    networkPolicyResource,
    podDisruptionBudgetResource,
    clusterRoleBindingResource,
    clusterRoleResource,
    roleBindingResource,
    roleResource,
    mutatingWebhookConfigurationResource,
    validatingAdmissionPolicyResource,
    validatingAdmissionPolicyBindingResource,
    validatingWebhookConfigurationResource,
    customResourceDefinitionResource,
    leaseResource,
    runtimeClassResource,
    endpointSliceResource,
    priorityClassResource,
    storageClassResource,
  ];
}

export { humanDuration } from "./human-duration.js";
