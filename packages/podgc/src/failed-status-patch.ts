import { type DeepReadonly, type Pod, type PodCondition, formatTime } from "@kubewright/api";

/**
 * Returns the strategic merge patch of the status that terminates a pod, or `undefined` if the pod is terminated.
 *
 * Contains only the changes, so that other content of status and spec is not validated. Because of the UID, the API
 * server refuses (422) to patch another pod of the same name.
 *
 * @param pod - The cached pod.
 * @param condition - The condition to add, or to replace the existing one of its type.
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go markFailedAndDeletePodWithCondition, pkg/util/pod
 * PatchPodStatus
 */
export function failedStatusPatch(pod: DeepReadonly<Pod>, condition?: PodCondition): object | undefined {
  const { metadata, status } = pod;
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return undefined;
  const { generation } = metadata;
  return {
    metadata: { uid: metadata.uid },
    status: {
      ...(condition === undefined ? {} : conditionPatch(status?.conditions ?? [], condition)),
      ...(generation === undefined || generation === status?.observedGeneration
        ? {}
        : { observedGeneration: generation }),
      phase: "Failed",
    },
  };
}

/** Returns the condition of a pod whose node was deleted. Pod failure policies of Jobs match it. */
export function nodeGoneCondition(pod: DeepReadonly<Pod>, nowMs: number): PodCondition {
  const type = "DisruptionTarget";
  const known = pod.status?.conditions?.find((each) => each.type === type);
  const { generation } = pod.metadata;
  return {
    type,
    status: "True",
    reason: "DeletionByPodGC",
    message: "PodGC: node no longer exists",
    lastTransitionTime:
      known?.status === "True" && known.lastTransitionTime ? known.lastTransitionTime : formatTime(nowMs),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/**
 * The API server merges conditions by type. The patch contains their order, so that a replaced condition keeps its
 * position.
 */
function conditionPatch(known: readonly DeepReadonly<PodCondition>[], condition: PodCondition): object {
  const { type } = condition;
  const old = known.find((each) => each.type === type);
  const order = old === undefined ? [...known, condition] : known;
  return {
    "$setElementOrder/conditions": order.map((each) => ({ type: each.type })),
    conditions: [{ ...changedMembers(old ?? {}, condition), type }],
  };
}

/** Returns the members of `next` that differ from `old`, and `null` for members missing in `next`. */
function changedMembers(old: object, next: object): object {
  const changes: Record<string, unknown> = {};
  const before = old as Readonly<Record<string, unknown>>;
  const after = next as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(before)) if (before[name] !== null && after[name] === undefined) changes[name] = null;
  for (const name of Object.keys(after)) if (after[name] !== before[name]) changes[name] = after[name];
  return changes;
}
