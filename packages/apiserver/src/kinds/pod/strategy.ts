import { type Pod, type PodCondition, pods, formatTime } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { bind } from "./binding.js";
import { defaultTolerations } from "./default-tolerations.js";
import { applyPodDefaults } from "./defaults.js";
import { ephemeralContainersStrategy } from "./ephemeral-containers.js";
import { evict } from "./eviction.js";
import { podLog } from "./log.js";
import { applyMatchLabelKeys } from "./match-label-keys.js";
import { podPrinter } from "./printer.js";
import { podQosClass } from "./qos-class.js";
import { resizeStrategy } from "./resize.js";
import { validatePodStatusUpdate } from "./status-validation.js";
import { validatePod, validatePodUpdate } from "./validation.js";
import { attachHandlers, execHandlers, portForwardHandlers } from "./streams.js";
import { podWarnings } from "./warnings.js";

/** Upstream: `pkg/registry/core/pod`. */
export const podStrategy: ResourceStrategy<Pod> = {
  applyDefaults: applyPodDefaults,
  prepareForCreate(pod, { nowMs }) {
    pod.metadata.generation = 1;
    applyMatchLabelKeys(pod);
    pod.status = { phase: "Pending", qosClass: podQosClass(pod) };
    if ((pod.spec?.schedulingGates?.length ?? 0) > 0) pod.status.conditions = [gatedCondition(nowMs)];
  },
  validateCreate: validatePod,
  warningsOnCreate: podWarnings,
  prepareForUpdate(pod, stored) {
    if (stored.status === undefined) delete pod.status;
    else pod.status = stored.status;
  },
  validateUpdate: validatePodUpdate,
  warningsOnUpdate: (pod, stored) => (jsonEqual(pod.spec, stored.spec) ? [] : podWarnings(pod)),
  status: { prepareForUpdate: prepareStatusForUpdate, validateUpdate: validatePodStatusUpdate },
  bumpsGeneration: (pod, stored) => !jsonEqual(pod.spec, stored.spec),
  gracePeriodSeconds({ spec, status }, requestedSeconds) {
    // A pod without a node has no kubelet that would end it, and a finished pod needs no grace period.
    if (!spec?.nodeName || status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
    const seconds = requestedSeconds ?? spec.terminationGracePeriodSeconds ?? 30;
    return seconds < 0 ? 1 : seconds;
  },
  deleteReturnsObject: true,
  fieldSelectors: {
    "spec.nodeName": nodeName,
    "spec.host": nodeName,
    "spec.restartPolicy": ({ spec }) => spec?.restartPolicy ?? "",
    "spec.schedulerName": ({ spec }) => spec?.schedulerName ?? "",
    "spec.serviceAccountName": ({ spec }) => spec?.serviceAccountName ?? "",
    "spec.hostNetwork": ({ spec }) => String(spec?.hostNetwork ?? false),
    "status.phase": ({ status }) => status?.phase ?? "",
    "status.podIP": firstAddress,
    "status.podIPs": firstAddress,
    "status.nominatedNodeName": ({ status }) => status?.nominatedNodeName ?? "",
  },
  printer: podPrinter,
};

export const podResource = builtInResource<Pod>({
  definition: pods,
  shortNames: ["po"],
  categories: ["all"],
  strategy: podStrategy,
  admission: defaultTolerations,
  subresources: {
    attach: { body: { group: "", version: "v1", kind: "PodAttachOptions" }, handlers: attachHandlers },
    binding: { body: { group: "", version: "v1", kind: "Binding" }, handlers: { create: bind } },
    eviction: { body: { group: "policy", version: "v1", kind: "Eviction" }, handlers: { create: evict } },
    ephemeralcontainers: { strategy: ephemeralContainersStrategy },
    exec: { body: { group: "", version: "v1", kind: "PodExecOptions" }, handlers: execHandlers },
    log: { handlers: { get: podLog } },
    portforward: { body: { group: "", version: "v1", kind: "PodPortForwardOptions" }, handlers: portForwardHandlers },
    resize: { strategy: resizeStrategy },
  },
});

function nodeName({ spec }: Pod): string {
  return spec?.nodeName ?? "";
}

function firstAddress({ status }: Pod): string {
  return status?.podIPs?.[0]?.ip ?? "";
}

function gatedCondition(nowMs: number): PodCondition {
  return {
    type: "PodScheduled",
    status: "False",
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
    lastProbeTime: null as unknown as string,
    lastTransitionTime: formatTime(nowMs),
  };
}

/** Upstream: `podStatusStrategy.PrepareForUpdate`. */
function prepareStatusForUpdate(pod: Pod, stored: Pod): void {
  if (stored.spec === undefined) delete pod.spec;
  else pod.spec = stored.spec;
  restoreMember(pod.metadata, stored.metadata, "deletionTimestamp");
  restoreMember(pod.metadata, stored.metadata, "ownerReferences");
  const status = (pod.status ??= {});
  if (!status.qosClass && stored.status?.qosClass) status.qosClass = stored.status.qosClass;
  // Writers that do not know observed generations must not remove them.
  if (!status.observedGeneration && stored.status?.observedGeneration)
    status.observedGeneration = stored.status.observedGeneration;
  if (status.conditions === undefined || status.conditions === stored.status?.conditions) return;
  status.conditions = status.conditions.map((condition) => {
    if (condition.observedGeneration) return condition;
    const observed = stored.status?.conditions?.find(({ type }) => type === condition.type)?.observedGeneration;
    return observed ? { ...condition, observedGeneration: observed } : condition;
  });
}
