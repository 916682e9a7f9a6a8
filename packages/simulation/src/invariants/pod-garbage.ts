import { type Node, type Pod, isConditionTrue, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, Stored, StoredChange, World } from "../world.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { hasEnded } from "./job-state.js";
import { NODES, PODS, POD_GC_CONTROLLER, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

const DEFAULT_THRESHOLD = 12_500;
/** Longer than the time from the last read of a node to the deletion of its last pod, with some lost responses. */
const LOOK_MS = 300_000;
/** Longer than a pass and the time between two. */
const PASS_MS = 60_000;
/** Two passes and the quarantine, with slack. */
const ACTS_MS = 200_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

type StoredPod = Stored<Pod>;
type StoredNode = Stored<Node>;

/** Upstream: pkg/controller/podgc/gc_controller.go. */
export const podGCReasons: Invariant = {
  name: "S15 PodGC reasons",
  sentence:
    "PodGC deletes only ended pods beyond its threshold, oldest first, pods of nodes that do not exist, and " +
    "pods being deleted that have no node, or one that is out of service. It first marks Failed those that " +
    "have not ended, and no others, with a DisruptionTarget condition unless they are being deleted.",
  watch(world, violated): InvariantChecks {
    const endedPods = new EndedPods();
    /** When an incarnation of PodGC last read a node and got a 404. */
    const notFoundMs = new Map<string, number>();
    /**
     * When a node was last out of service in the store or in a cache of PodGC; and the incarnations whose caches show
     * it so now.
     */
    const outOfServiceMs = new Map<string, number>();
    const shownOut = new Set<string>();
    /** UIDs of pods that PodGC has marked Failed: their kubelets may still report another phase. */
    const marked = new Set<string>();
    return {
      onAnswer(request) {
        const { component, verb, resource, name, code, sentMs } = request;
        if (component !== POD_GC_CONTROLLER || verb !== "get" || resource !== NODES) return;
        if (code === 404) notFoundMs.set(`${incarnationKeyOf(request)} ${name}`, sentMs);
        else if (code === 200) notFoundMs.delete(`${incarnationKeyOf(request)} ${name}`);
      },
      onCacheEvent(event) {
        if (event.resource !== NODES || event.component !== POD_GC_CONTROLLER) return;
        const node: StoredNode = event.object;
        const name = node.metadata.name ?? "";
        if (event.type !== "delete" && isOutOfService(node)) shownOut.add(`${incarnationKeyOf(event)} ${name}`);
        else if (shownOut.delete(`${incarnationKeyOf(event)} ${name}`)) outOfServiceMs.set(name, event.atMs);
      },
      onChange(change) {
        if (change.resource === NODES) {
          const node: StoredNode = change.object;
          const name = node.metadata.name ?? "";
          if (isOutOfService(node)) outOfServiceMs.set(name, change.atMs);
        }
        if (change.resource !== PODS) return;
        const pod: StoredPod = change.previous ?? change.object;
        const { request } = change;
        if (request?.component === POD_GC_CONTROLLER) {
          const isMarked = hasEnded(change.object) && !hasEnded(pod);
          if (hasEnded(change.object)) marked.add(uidOf(pod));
          // PodGC marks pods without a deletion request only when their node is gone.
          if (isMarked && !isBeingDeleted(pod) && !isDisrupted(change.object))
            violated(nameOf(pod, "Pod"), "is marked Failed by PodGC, and has no DisruptionTarget condition");
          if (isMarked && !mayEnd(pod, request))
            violated(nameOf(pod, "Pod"), `is marked Failed by PodGC, and ${nodeText(pod)}`);
          const wrong = request.verb === "delete" ? deletionProblem(pod, request) : undefined;
          if (wrong !== undefined) violated(nameOf(pod, "Pod"), `is deleted by PodGC, ${wrong}`);
        }
        endedPods.onChange(change);
      },
    };

    function deletionProblem(pod: StoredPod, request: ObservedRequest): string | undefined {
      if (!hasEnded(pod) && !marked.has(uidOf(pod))) return "and was not marked Failed first";
      return mayEnd(pod, request) ? undefined : endedPods.thresholdProblem(pod, thresholdOf(world), world.nowMs);
    }

    /**
     * Reports whether no kubelet will end the pod: its node is gone or out of service, or the pod has no node and is
     * being deleted.
     */
    function mayEnd(pod: StoredPod, request: ObservedRequest): boolean {
      const { nodeName = "" } = pod.spec ?? {};
      if (nodeName === "") return isBeingDeleted(pod);
      const place = `${incarnationKeyOf(request)} ${nodeName}`;
      const isGone =
        world.get(NODES, "", nodeName) === undefined || (notFoundMs.get(place) ?? -Infinity) > world.nowMs - LOOK_MS;
      const isOut =
        world.nowMs - (outOfServiceMs.get(nodeName) ?? -Infinity) < PASS_MS ||
        shownOut.has(place) ||
        isOutOfService(world.get<Node>(NODES, "", nodeName));
      return isGone || (isOut && isBeingDeleted(pod));
    }
  },
};

function nodeText({ spec }: StoredPod): string {
  return spec?.nodeName === undefined ? "has no node, which it may yet get" : "its node exists and is in service";
}

function isDisrupted({ status }: StoredPod): boolean {
  return isConditionTrue(status?.conditions, "DisruptionTarget");
}

function thresholdOf({ plan }: World): number {
  return plan.controllers?.terminatedPodGCThreshold ?? DEFAULT_THRESHOLD;
}

function isOutOfService(node: StoredNode | undefined): boolean {
  return (
    node !== undefined &&
    !isConditionTrue(node.status?.conditions, "Ready") &&
    (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false)
  );
}

/** Ended pods, including recently deleted ones: a pass uses its view at its start. */
class EndedPods {
  readonly #ended = new Map<string, StoredPod>();
  readonly #deletedMs = new Map<string, number>();
  /** Whether each pod was evicted, at every version since it ended: both values, if that has changed. */
  readonly #evicted = new Map<string, Set<boolean>>();

  onChange({ type, object, atMs }: StoredChange): void {
    const pod: StoredPod = object;
    if (!hasEnded(pod)) return;
    this.#ended.set(uidOf(pod), pod);
    this.#evicted.set(uidOf(pod), (this.#evicted.get(uidOf(pod)) ?? new Set()).add(isEvicted(pod)));
    if (type === "DELETED") this.#deletedMs.set(uidOf(pod), atMs);
  }

  thresholdProblem(pod: StoredPod, threshold: number, nowMs: number): string | undefined {
    if (threshold <= 0) return "which keeps all of them";
    let count = 0;
    let before = 0;
    for (const [uid, other] of this.#ended) {
      const deletedMs = this.#deletedMs.get(uid);
      if (deletedMs !== undefined && deletedMs < nowMs - PASS_MS) {
        this.#ended.delete(uid);
        this.#deletedMs.delete(uid);
        continue;
      }
      count++;
      if (deletedMs === undefined && uid !== uidOf(pod) && !isBeingDeleted(other) && this.#goesBefore(other, pod))
        before++;
    }
    if (count <= threshold) return `of ${count} that have ended, and ${threshold} are kept`;
    return before >= count - threshold ? `before ${before} older ones` : undefined;
  }

  /** Reports whether one pod precedes the other in every possible view of a cache. */
  #goesBefore(a: StoredPod, b: StoredPod): boolean {
    const isOlder = (parseTime(a.metadata.creationTimestamp) ?? 0) < (parseTime(b.metadata.creationTimestamp) ?? 0);
    const evicted = ({ metadata }: StoredPod): boolean[] => [...(this.#evicted.get(metadata.uid ?? "") ?? [false])];
    return evicted(a).every((isA) => evicted(b).every((isB) => (isA === isB ? isOlder : isA)));
  }
}

function isEvicted({ status }: StoredPod): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}

export const podGCActs: Invariant = {
  name: "L4 PodGC acts",
  sentence:
    "After 200 s without faults, no pod remains that has run for 200 s on a node that does not exist, none that is being " +
    "deleted, has no node and has not ended, and no more ended pods that are not being deleted than the threshold.",
  watch(world, violated): InvariantChecks {
    const changedMs = new Map<string, number>();
    const nodeGoneMs = new Map<string, number>();
    const disturbances = new DisturbanceTracker(world, POD_GC_CONTROLLER);
    let lookedMs = world.nowMs;
    return {
      onScenarioEvent: (scenarioEvent) => disturbances.onScenarioEvent(scenarioEvent),
      onCacheEvent: (event) => disturbances.onCacheEvent(event),
      onChange({ resource, type, object, atMs }) {
        if (resource === NODES && type === "DELETED") nodeGoneMs.set(object.metadata.name ?? "", atMs);
        if (resource === PODS) changedMs.set(uidOf(object), atMs);
      },
      onTick() {
        if (world.nowMs - lookedMs < PASS_MS || disturbances.quietSinceMs > world.nowMs - ACTS_MS) return;
        lookedMs = world.nowMs;
        look();
      },
      atRest() {
        if (world.healedMs <= world.nowMs - ACTS_MS) look();
      },
    };

    function look(): void {
      const sinceMs = world.nowMs - ACTS_MS;
      let ended = 0;
      for (const pod of world.list<Pod>(PODS)) {
        const lastMs = changedMs.get(uidOf(pod)) ?? -Infinity;
        // PodGC is done with pods that are being deleted; a finalizer that blocks the deletion is another matter (L2).
        if (hasEnded(pod) && !isBeingDeleted(pod) && lastMs < sinceMs) ended++;
        const nodeName = pod.spec?.nodeName ?? "";
        if (hasEnded(pod)) continue;
        // Only PodGC can end such a pod, and its Job may wait for the end.
        if (nodeName === "" && isBeingDeleted(pod) && lastMs < sinceMs)
          violated(nameOf(pod, "Pod"), "is being deleted, has no node, and has not ended");
        if (nodeName === "" || world.get(NODES, "", nodeName) !== undefined) continue;
        if (Math.max(lastMs, nodeGoneMs.get(nodeName) ?? -Infinity) < sinceMs)
          violated(nameOf(pod, "Pod"), `is ${pod.status?.phase} on ${nodeName}, which does not exist`);
      }
      const threshold = thresholdOf(world);
      if (threshold > 0 && ended > threshold)
        violated("pods", `${ended} that have ended are left, and the threshold is ${threshold}`);
    }
  },
};
