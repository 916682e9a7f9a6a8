import type { MutantRows } from "../mutant.ts";

/** Known bugs of the garbage collector, PodGC and the TTL controller. */
export const GARBAGE_MUTANTS: MutantRows = {
  "gc-absent-owner-by-uid": {
    entry: "E1",
    issue: "kubernetes/kubernetes#65200",
    sentence:
      "An owner that was looked up in the wrong namespace, and not found, counts as absent for every dependent with its UID: its own dependents are deleted.",
    inPlan: [/"second"/],
    file: "packages/garbage-collector/src/absent-owners.ts",
    find: "return JSON.stringify([apiVersion, kind, namespace, name, uid]);",
    replace: "return uid;",
  },
  "gc-cluster-scoped-owner-absent": {
    entry: "own",
    issue: "kubernetes/kubernetes#57211",
    sentence: "A cluster-scoped owner of a namespaced object counts as absent.",
    inPlan: [/of-node/],
    file: "packages/garbage-collector/src/attempt-to-delete.ts",
    find: "  const identity = live.resourceOf(reference).namespaced ? namespaced : clusterScoped;",
    replace:
      '  const identity = namespaced;\n  if (!live.resourceOf(reference).namespaced && dependent.namespace !== "") {\n    absentOwners.add(clusterScoped);\n    return undefined;\n  }',
  },
  "gc-foreground-cycle": {
    entry: "E4",
    issue: "kubernetes/kubernetes#32628",
    sentence: "Objects that own each other wait for each other when they are deleted in the foreground.",
    inPlan: [/"kind":"ConfigMap","name":"/],
    file: "packages/garbage-collector/src/item-plan.ts",
    find: "if (deletingDependents) mayBeCycle = true;",
    replace: "",
  },
  "gc-foreground-twice": {
    entry: "E4",
    issue: "kubernetes/kubernetes#77081",
    sentence:
      "A foreground deletion that is requested while the object is being deleted already is not noticed: its finalizer stays.",
    file: "packages/garbage-collector/src/dependency-graph.ts",
    find: "return isDeletedWithFinalizer(metadata) && !(old !== undefined && isDeletedWithFinalizer(old));",
    replace: "return isDeletedWithFinalizer(metadata) && !(old !== undefined && isBeingDeleted(old));",
  },
  "gc-namespaced-owner-of-cluster-scoped": {
    entry: "E1",
    issue: "kubernetes/kubernetes#65200",
    sentence: "A cluster-scoped object that names a namespaced owner is deleted, because that owner is found nowhere.",
    inPlan: [/PriorityClass/],
    file: "packages/garbage-collector/src/live-objects.ts",
    find: 'if (resource.namespaced && identity.namespace === "") throw new NamespacedOwnerError();',
    replace:
      'if (resource.namespaced && identity.namespace === "") identity = { ...identity, namespace: "kube-system" };',
  },
  "gc-orphan-strips-all": {
    entry: "own",
    sentence: "Orphaning the dependents of one owner removes the references to all of their owners.",
    inPlan: [/Orphan/],
    file: "packages/garbage-collector/src/attempt-to-orphan.ts",
    find: "const removeReference = async ({ identity: dependent }: GraphNode): Promise<void> => {\n    const strategic = deleteReferencesStrategicPatch(dependent.uid, [identity.uid]);",
    replace:
      "const removeReference = async ({ identity: dependent, owners }: GraphNode): Promise<void> => {\n    const strategic = deleteReferencesStrategicPatch(dependent.uid, owners.map(({ uid }) => uid));",
  },
  "gc-terminating-does-not-block": {
    entry: "own",
    sentence: "A foreground deletion does not wait for dependents that are being deleted already.",
    inPlan: [/Foreground|ttlSeconds/],
    file: "packages/garbage-collector/src/attempt-to-delete.ts",
    find: "  if (node.isBlocked) {",
    replace:
      "  if (node.isBlocked && [...node.dependents].some((each) => node.isBlockedBy(each) && !each.beingDeleted)) {",
  },
  "gc-virtual-node-stranded": {
    entry: "E2",
    issue: "kubernetes/kubernetes#56121",
    sentence:
      "An owner that is known only from references, and was found by a lookup, is not looked up again: if it is deleted before it is observed, its dependents stay.",
    inPlan: [/"watchCut":\{("controller":"garbage-collector-controller"|"compacted":true)|staleList/],
    file: "packages/garbage-collector/src/garbage-collector.ts",
    find: "if (node.virtual && this.#isInGraph(node)) return this.#retry(key);",
    replace: "",
  },
  "podgc-delete-by-name": {
    entry: "1.3",
    sentence:
      "PodGC deletes pods by name without a UID precondition, and may delete another pod that has taken the name.",
    inPlan: [/"apply":\{"apiVersion":"v1","kind":"Pod"/],
    file: "packages/podgc/src/force-delete.ts",
    find: "gracePeriodSeconds: 0, preconditions: { uid }, signal",
    replace: "gracePeriodSeconds: 0, signal",
  },
  "podgc-no-quarantine": {
    entry: "E5",
    issue: "kubernetes/kubernetes#82365",
    sentence: "As podgc-node-from-cache, and without the quarantine: at the next pass already.",
    inPlan: [/"apply":\{"apiVersion":"v1","kind":"Node"/],
    changes: [
      {
        file: "packages/podgc/src/pod-gc-controller.ts",
        find: `      await this.#nodeReader.get(name, { signal });
      return false;`,
        replace: "      return true;",
      },
      {
        file: "packages/podgc/src/pod-gc-controller.ts",
        find: "this.#quarantine = new NodeQuarantine(quarantineMs);",
        replace: "this.#quarantine = new NodeQuarantine(0);",
      },
    ],
  },
  "podgc-node-from-cache": {
    entry: "E5",
    issue: "kubernetes/kubernetes#82365",
    sentence:
      "A node that is missing in the cache counts as deleted, without a request to the API server: its pods are marked Failed and deleted while they run.",
    inPlan: [/"apply":\{"apiVersion":"v1","kind":"Node"/],
    file: "packages/podgc/src/pod-gc-controller.ts",
    find: `      await this.#nodeReader.get(name, { signal });
      return false;`,
    replace: "      return true;",
  },
  "podgc-out-of-service-ready": {
    entry: "own",
    sentence: "A node that is ready loses its terminating pods to a taint.",

    inPlan: [/out-of-service/],
    file: "packages/podgc/src/select-pods.ts",
    find: "return hasTaint && !isNodeReady(node);",
    replace: "return hasTaint;",
  },
  "podgc-unscheduled-kept": {
    entry: "own",
    sentence:
      "Pods that are being deleted and never got a node are kept: a Job that replaces only failed pods waits forever.",
    inPlan: [/"delete":\{"kind":"Node"/],
    file: "packages/podgc/src/pod-gc-controller.ts",
    find: "const unscheduled = selectUnscheduledTerminatingPods(snapshot);",
    replace: "const unscheduled = selectUnscheduledTerminatingPods([]);",
  },
  "ttl-future-finish": {
    entry: "3.1",
    sentence: "A Job that finished in the future, by another clock, is deleted immediately.",
    inPlan: [/ttlSecondsAfterFinished/, /clock(Jump|Skew)/],
    file: "packages/ttl-after-finished/src/time-left.ts",
    find: "const remainingMs = expiredMs - nowMs;",
    replace: "const remainingMs = finishedMs > nowMs ? 0 : expiredMs - nowMs;",
  },
  "ttl-only-at-end": {
    entry: "own",
    sentence: "A TTL that is set or shortened after the end of a Job is not noticed.",
    inPlan: [/ttlSecondsAfterFinished/],
    file: "packages/ttl-after-finished/src/ttl-after-finished-controller.ts",
    find: "onUpdate: (_old, job) => enqueue(job)",
    replace: "onUpdate: (old, job) => {\n      if (!needsCleanup(old)) enqueue(job);\n    }",
  },
};
