import type { DeepReadonly, PodFailurePolicy } from "@kubewright/api";

import type { Invariant, InvariantChecks, Violated } from "../invariant.js";
import type { StoredChange } from "../world.js";
import { IndexSet } from "./index-set.js";
import { type JobRecords, type JobRecord, type PodRecord, isIgnored, jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  type StoredPod,
  hasEnded,
  hasFailed,
  indexOf,
  isIndexed,
  isTracked,
  mayHaveBeenCutShort,
  policyAction,
} from "./job-state.js";
import {
  JOBS,
  JOB_CONTROLLER,
  PODS,
  isBeingDeleted,
  incarnationKeyOf,
  nameOf,
  ownerOfKind,
  uidOf,
} from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go trackJobStatusAndRemoveFinalizers. */
export const countedOnce: Invariant = {
  name: "S1 counted once",
  sentence:
    "A pod's UID enters uncountedTerminatedPods at most once while the pod belongs to the Job, in one list, " +
    "according to how the pod ended, unless the failure policy ignores it or its index is out of range. succeeded " +
    "and failed change by the number of UIDs that leave the lists, or equal the number of completed indexes.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const entered = new Map<string, Map<string, string>>();
    return {
      onChange(change) {
        if (change.previous === undefined || change.type !== "MODIFIED") return;
        if (change.resource === PODS) forgetReowned(change, entered);
        if (change.resource !== JOBS || records.mayReadStaleState) return;
        const job = records.jobs.get(uidOf(change.object));
        if (job === undefined || change.request?.component !== JOB_CONTROLLER) return;
        let known = entered.get(job.uid);
        if (known === undefined) entered.set(job.uid, (known = new Map()));
        checkLists(change, known, records, violated);
        checkNumbers(change, job, violated);
      },
    };
  },
};

/**
 * Forgets the record of a pod that a Job adopts again after it released it: the controller no longer knows that it has
 * counted the pod.
 */
function forgetReowned({ object, previous }: StoredChange, entered: Map<string, Map<string, string>>): void {
  const owner = ownerOfKind(object, "Job")?.uid;
  if (owner === undefined || owner === ownerOfKind(previous!, "Job")?.uid) return;
  entered.get(owner)?.delete(uidOf(object));
}

function checkLists(
  { object, previous }: StoredChange,
  entered: Map<string, string>,
  records: JobRecords,
  violated: Violated,
): void {
  const job = object as StoredJob;
  const was = uncounted(previous as StoredJob);
  const is = uncounted(job);
  if (is.succeeded.length === 0 && is.failed.length === 0) return;
  const before = new Set([...was.succeeded, ...was.failed]);
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const uid of is[list]) {
      const pod = records.pods.get(uid);
      const podName = pod === undefined ? `pod ${uid}` : nameOf(pod.object, "Pod");
      if (seen.has(uid)) violated(nameOf(job, "Job"), `${podName} is recorded twice in one status`);
      seen.add(uid);
      const earlier = entered.get(uid);
      if (before.has(uid) && (earlier === undefined || earlier === list)) continue;
      if (earlier !== undefined && !before.has(uid))
        violated(nameOf(job, "Job"), `${podName} is recorded as ${list}, after it was counted as ${earlier}`);
      else if (earlier !== undefined)
        violated(nameOf(job, "Job"), `${podName} is recorded as ${list}, after it was recorded as ${earlier}`);
      entered.set(uid, list);
      const wrong = listProblem(list, uid, pod, job);
      if (wrong !== undefined) violated(nameOf(job, "Job"), `${podName} is recorded as ${list}, but ${wrong}`);
    }
  }
}

/** Explains why a pod does not belong in the list. */
function listProblem(
  list: "succeeded" | "failed",
  uid: string,
  pod: PodRecord | undefined,
  job: StoredJob,
): string | undefined {
  if (pod === undefined) return `no pod of a Job has ever had the UID ${uid}`;
  if (pod.flipped || pod.job?.externallyModified === true) return undefined;
  const { spec } = job;
  if (spec !== undefined && isIndexed(spec) && indexOf(pod.object, spec.completions ?? 0) === undefined)
    return `is of no index below ${spec.completions}`;
  if (list === "succeeded") return pod.everSucceeded ? undefined : "has never succeeded";
  // A failing Job deletes all its remaining pods, which count as failed.
  const isFailing = job.status?.conditions?.some(({ type }) => type === "FailureTarget" || type === "Failed") ?? false;
  if (isFailing) return undefined;
  if (isIgnored(pod)) return "its Job's policy ignores that it has failed";
  return pod.everFailed || pod.everTerminating ? undefined : "has neither failed nor been deleted";
}

function checkNumbers(
  { object, previous }: StoredChange,
  { specs, externallyModified }: JobRecord,
  violated: Violated,
): void {
  const job = object as StoredJob;
  const before = previous as StoredJob;
  const was = uncounted(before);
  const is = uncounted(job);
  const number = (stored: StoredJob, field: "succeeded" | "failed"): number => stored.status?.[field] ?? 0;
  const check = (field: "succeeded" | "failed"): void => {
    const counted = number(job, field) - number(before, field);
    if (counted === 0 && was[field].length === 0) return;
    const left = new Set(is[field]);
    const leaving = was[field].filter((uid) => !left.has(uid)).length;
    if (counted !== leaving)
      violated(
        nameOf(job, "Job"),
        `${field} goes from ${number(before, field)} to ${number(job, field)}, while ${leaving} recorded pods leave the list`,
      );
  };
  check("failed");
  if (job.spec === undefined || !isIndexed(job.spec)) {
    check("succeeded");
    return;
  }
  const text = job.status?.completedIndexes;
  const completed = new IndexSet(text);
  if (number(job, "succeeded") !== completed.size)
    violated(nameOf(job, "Job"), `succeeded is ${number(job, "succeeded")}, and completedIndexes ${text ?? ""}`);
  // The spec is the one that the sync has read, or the API server would have refused the write.
  const { completions: all = 0 } = job.spec;
  for (const field of ["completedIndexes", "failedIndexes"] as const) {
    const indexes = new IndexSet(job.status?.[field]);
    if (indexes.sizeBelow(all) < indexes.size)
      violated(nameOf(job, "Job"), `${field} is ${job.status?.[field]}, and completions is ${all}`);
  }
  if (externallyModified || text === before.status?.completedIndexes) return;
  // Fewer completions drop the indexes beyond; the controller may observe such a spec late, or not at all.
  const fewest = Math.min(...specs.map(({ completions }) => completions ?? 0));
  const missing = new IndexSet(before.status?.completedIndexes).firstMissingIn(completed, fewest);
  if (missing !== undefined)
    violated(
      nameOf(job, "Job"),
      `index ${missing} was completed and is not any more: ${before.status?.completedIndexes} is now ${text ?? ""}`,
    );
}

/** Upstream: job_controller.go, the order in trackJobStatusAndRemoveFinalizers and flushUncountedAndRemoveFinalizers. */
export const recordedBeforeRemoval: Invariant = {
  name: "S2 recorded before finalizer removal",
  sentence:
    "The tracking finalizer of an ended pod of an unfinished Job is removed only when the stored status has the pod's UID or index, " +
    "unless the Job succeeds and the pod was deleted before it ended, or in the same second. A UID leaves the status only when the " +
    "stored pod has no such finalizer or no longer belongs to the Job. The last pod that has an index's failure count keeps its " +
    "finalizer until the index has another pod. Surplus pods of an unfinished Job lose the finalizer before they are deleted.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    /** Removed finalizers whose sync has not reported its decision yet, by incarnation and Job. */
    const removals = new Map<string, FinalizerRemoval[]>();
    /** UIDs of pods that such a sync deleted with the finalizer, by the same key. */
    const deletedWithFinalizer = new Map<string, Set<string>>();
    return {
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const key = `${incarnationKeyOf({ ...reported, component: reported.controller })} ${reported.decision.key}`;
        const unreported = deletedWithFinalizer.get(key);
        deletedWithFinalizer.delete(key);
        for (const pod of reported.decision.plan.pods?.remove ?? [])
          if (isTracked(pod) && unreported?.has(uidOf(pod)) === true)
            violated(nameOf(pod, "Pod"), "is deleted with the tracking finalizer, though its Job continues");
        const pods = removals.get(key);
        if (pods === undefined) return;
        removals.delete(key);
        const { active, tracked } = reported.decision.plan.observed;
        // A sync that observed the pod running may delete it without counting it: the Job wants fewer pods, is
        // suspended, or ends.
        const running = new Set(active.map(({ metadata: { uid } }) => uid));
        for (const { uid, policy, subject, message } of pods) {
          const seen = tracked.find(({ metadata }) => metadata.uid === uid);
          const isIgnored = seen !== undefined && policyAction(policy, seen) === "Ignore";
          if (!running.has(uid) && !isIgnored) violated(subject, message);
        }
      },
      onChange(change) {
        const { request, previous } = change;
        if (request?.component !== JOB_CONTROLLER || previous === undefined || records.mayReadStaleState) return;
        if (change.resource === PODS) {
          const job = records.pods.get(uidOf(previous))?.job;
          if (job === undefined) return;
          const key = `${incarnationKeyOf(request)} ${job.object.metadata.namespace}/${job.object.metadata.name}`;
          if (request.verb === "delete" && isTracked(previous))
            deletedWithFinalizer.set(key, (deletedWithFinalizer.get(key) ?? new Set()).add(uidOf(previous)));
          const unclear = unrecordedRemoval(change, records) ?? failureCountRemoval(change, records);
          if (unclear !== undefined) removals.set(key, [...(removals.get(key) ?? []), unclear]);
        } else if (change.resource === JOBS && change.type === "MODIFIED") checkLeaving(change, records, violated);
      },
    };
  },
};

interface FinalizerRemoval {
  readonly uid: string;
  readonly policy: DeepReadonly<PodFailurePolicy> | undefined;
  readonly subject: string;
  readonly message: string;
}

/** Returns the removal of an ended pod's finalizer that no status records. */
function unrecordedRemoval(change: StoredChange, records: JobRecords): FinalizerRemoval | undefined {
  const pod = change.object as StoredPod;
  const before = change.previous as StoredPod;
  // When the last finalizer of a pod that is being deleted is removed, the change is the pod's deletion.
  const isRemoved = isTracked(before) && (!isTracked(pod) || change.type === "DELETED");
  if (!isRemoved || !hasEnded(pod)) return undefined;
  const record = records.pods.get(uidOf(pod));
  const job = record?.job;
  if (record === undefined || job === undefined || job.gone || job.externallyModified || record.flipped)
    return undefined;
  // The finalizer of a pod without an owner may be removed late.
  if (record.moved) return undefined;
  if (job.finishedMs !== undefined || isBeingDeleted(job.object) || job.object.spec === undefined) return undefined;
  if (!record.shownEndedTo.has(incarnationKeyOf(change.request!))) return undefined;
  // A pod that is deleted while it runs, when the success is decided, does not count.
  if (job.succeeds && (record.everCutShort || mayHaveBeenCutShort(pod))) return undefined;
  const lists = uncounted(job.object);
  if (lists.succeeded.includes(record.uid) || lists.failed.includes(record.uid)) return undefined;
  if (isIndexed(job.object.spec)) {
    const index = indexOf(pod, Math.min(...job.specs.map(({ completions }) => completions ?? 0)));
    const { completedIndexes, failedIndexes } = job.object.status ?? {};
    if (index === undefined || new IndexSet(completedIndexes).has(index)) return undefined;
    // No index may be both: a controller that did not know of the failure has created a pod that succeeds in vain.
    if (!hasFailed(pod) && new IndexSet(failedIndexes).has(index)) return undefined;
  }
  if (hasFailed(pod) && policyAction(job.object.spec.podFailurePolicy, pod) === "Ignore") return undefined;
  return {
    uid: record.uid,
    policy: job.object.spec.podFailurePolicy,
    subject: nameOf(pod, "Pod"),
    message: `${nameOf(job.object, "Job")} removes its finalizer, ${pod.status?.phase}, and its status has not recorded it`,
  };
}

/**
 * Returns the removal of a finalizer from the only pod with the failure count of its index: the next pod has to take
 * the count over.
 *
 * Upstream: pkg/controller/job/indexed_job_utils.go getPodsWithDelayedDeletionPerIndex.
 */
function failureCountRemoval(
  { type, object, previous, request }: StoredChange,
  records: JobRecords,
): FinalizerRemoval | undefined {
  const pod = object as StoredPod;
  if (!isTracked(previous!) || (isTracked(pod) && type !== "DELETED") || !hasFailed(pod)) return undefined;
  const record = records.pods.get(uidOf(pod));
  const job = record?.job;
  const { spec, status } = job?.object ?? {};
  if (record === undefined || job === undefined || spec?.backoffLimitPerIndex == null) return undefined;
  if (job.gone || job.externallyModified || record.flipped || isBeingDeleted(job.object)) return undefined;
  if (!record.shownEndedTo.has(incarnationKeyOf(request!)) || isEnding(job.object)) return undefined;
  const index = indexOf(pod, Math.min(...job.specs.map(({ completions }) => completions ?? 0)));
  if (index === undefined || job.allPods.some((other) => other !== record && indexOf(other.object) === index))
    return undefined;
  if (new IndexSet(status?.completedIndexes).has(index) || new IndexSet(status?.failedIndexes).has(index))
    return undefined;
  return {
    uid: record.uid,
    policy: undefined,
    subject: nameOf(pod, "Pod"),
    message: `${nameOf(job.object, "Job")} removes its finalizer, and no other pod of index ${index} knows that it has failed`,
  };
}

function isEnding({ status }: StoredJob): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type !== "Suspended" && holds === "True") ?? false;
}

function checkLeaving({ object, previous }: StoredChange, records: JobRecords, violated: Violated): void {
  const was = uncounted(previous as StoredJob);
  if (was.succeeded.length === 0 && was.failed.length === 0) return;
  const is = uncounted(object);
  const left = new Set([...is.succeeded, ...is.failed]);
  for (const uid of [...was.succeeded, ...was.failed]) {
    if (left.has(uid)) continue;
    const pod = records.pods.get(uid);
    if (pod === undefined || pod.gone || !isTracked(pod.object) || pod.job?.externallyModified === true) continue;
    // The garbage collector has orphaned the pod: it no longer belongs to the Job, which must not wait for its
    // finalizer.
    if (pod.job?.uid !== uidOf(object)) continue;
    violated(nameOf(object, "Job"), `counts ${nameOf(pod.object, "Pod")}, which still has the tracking finalizer`);
  }
}

function uncounted({ status }: StoredJob): {
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
} {
  const lists = status?.uncountedTerminatedPods;
  return { succeeded: lists?.succeeded ?? [], failed: lists?.failed ?? [] };
}
