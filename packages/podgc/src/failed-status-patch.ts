import { type DeepReadonly, type Pod, type PodCondition, formatTime } from "@kubewright/api";

/**
 * The strategic merge patch of a pod's status that ends it, or `undefined` when the pod has ended.
 *
 * Names only what changes, so that whatever else the status or spec holds is never looked at. The UID makes the API server
 * refuse (422) to end another pod of the same name.
 *
 * @param pod - As cached.
 * @param condition - To be added, or to take the place of the one of its type.
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go markFailedAndDeletePodWithCondition, pkg/util/pod
 *   PatchPodStatus
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

/** What the pod is told when its node is gone: Job's pod failure policies match it. */
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

/** Lists are merged by condition type; the order is spelled out, so that a replaced condition keeps its place. */
function conditionPatch(known: readonly DeepReadonly<PodCondition>[], condition: PodCondition): object {
  const { type } = condition;
  const old = known.find((each) => each.type === type);
  const order = old === undefined ? [...known, condition] : known;
  return {
    "$setElementOrder/conditions": order.map((each) => ({ type: each.type })),
    conditions: [{ ...changedMembers(old ?? {}, condition), type }],
  };
}

/** Members of `next` that differ from `old`, and `null` for those it lacks. */
function changedMembers(old: object, next: object): object {
  const changes: Record<string, unknown> = {};
  const before = old as Readonly<Record<string, unknown>>;
  const after = next as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(before)) if (before[name] !== null && after[name] === undefined) changes[name] = null;
  for (const name of Object.keys(after)) if (after[name] !== before[name]) changes[name] = after[name];
  return changes;
}
