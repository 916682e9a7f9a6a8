import type { MutantRows } from "../mutant.ts";

/** Known bugs of the Job controller. */
export const JOB_MUTANTS: MutantRows = {
  "job-adopt-from-cache": {
    entry: "3.1",
    issue: "kubernetes/kubernetes#42639",
    sentence:
      "A Job that is being deleted, which the cache does not show, adopts a pod that was just released; the pod is then deleted with it.",
    inPlan: [/"Orphan"|own-pod/],
    file: "packages/job/src/claim-pods.ts",
    find: "canAdopt: recheckDeletionTimestamp(jobClient, job),",
    replace: "canAdopt: () => Promise.resolve(),",
  },
  "job-backoff-lost-on-restart": {
    entry: "#16",
    issue: "kubernetes/kubernetes#114650",
    sentence: "A restarted controller replaces a failed pod without delay: its failure records were in memory only.",
    permitted: true,
    changes: [],
  },
  "job-backoff-not-honoured": {
    entry: "#15",
    issue: "kubernetes/kubernetes#114391",
    sentence: "A sync without a new failure forgets the earlier ones, so that failed pods are replaced immediately.",
    file: "packages/job/src/backoff.ts",
    find: "if (succeeded.length === 0 && failed.length === 0) return record;",
    replace: "if (succeeded.length === 0 && failed.length === 0) return NO_BACKOFF;",
  },
  "job-backoff-zero-active": {
    entry: "#1",
    issue: "kubernetes/kubernetes#139428",
    sentence:
      "While a replacement waits for its back-off, the status reports no active pods, although others run: the API server rejects that as fewer than are ready.",
    file: "packages/job/src/plan-pods.ts",
    find: "const reported = behaviours.activePodsDuringBackoff ? {} : { reportedActive: 0 };",
    replace: "const reported = { reportedActive: 0 };",
  },
  "job-deadline-suspended": {
    entry: "own",
    sentence: "The deadline of a Job keeps running while the Job is suspended.",
    inPlan: [/activeDeadlineSeconds/, /"suspend"/],
    changes: [
      {
        file: "packages/job/src/end-state.ts",
        find: "if (seconds == null || startMs === undefined || isSuspended(job)) return undefined;",
        replace: "if (seconds == null || startMs === undefined) return undefined;",
      },
      {
        file: "packages/job/src/reconcile-status.ts",
        find: "const startTime = suspended ? (clearsStartTime ? undefined : draft.startTime) : formatTime(nowMs);",
        replace: "const startTime = suspended ? draft.startTime : formatTime(nowMs);",
      },
    ],
  },
  "job-deletes-best-first": {
    entry: "own",
    sentence: "A smaller parallelism deletes the pods with the highest rank first.",
    inPlan: [/parallelism/],
    file: "packages/job/src/pods-to-delete.ts",
    find: "return atLeast <= 0 ? [] : rank(active).slice(0, atLeast);",
    replace: "return atLeast <= 0 ? [] : rank(active).slice(-atLeast);",
  },
  "job-failure-policy-missing-exit-code": {
    entry: "#18",
    issue: "kubernetes/kubernetes#113852",
    sentence:
      "A container that has not ended matches an exit code rule with NotIn: the Job fails without a reason that the policy names.",
    inPlan: [/onExitCodes/],
    changes: [
      {
        file: "packages/job/src/pod-failure-policy.ts",
        find: "if (exitCode === undefined || exitCode === 0 || ",
        replace: "if (exitCode === 0 || ",
      },
      {
        file: "packages/job/src/pod-failure-policy.ts",
        find: "!values.includes(exitCode);",
        replace: "!values.includes(exitCode!);",
      },
      {
        file: "packages/job/src/pod-failure-policy.ts",
        find: "${status.state!.terminated!.exitCode}",
        replace: "${status.state?.terminated?.exitCode}",
      },
    ],
  },
  "job-failure-policy-running-container": {
    entry: "#18",
    issue: "kubernetes/kubernetes#113852",
    sentence:
      "The exit code of a container that has not ended is read when the pod has failed: the sync throws, again and again.",
    inPlan: [/onExitCodes/],
    file: "packages/job/src/pod-failure-policy.ts",
    find: "const exitCode = state?.terminated?.exitCode;",
    replace: "const exitCode = state!.terminated!.exitCode;",
  },
  "job-failures-forgotten": {
    entry: "#11",
    issue: "kubernetes/kubernetes#62382",
    sentence:
      "Only pods that have just failed count for backoffLimit, not earlier ones: a Job that always fails never ends.",
    file: "packages/job/src/observed-pods.ts",
    find: "failed: (job.status?.failed ?? 0) + countedFailures + uncountedFailed.length,",
    replace: "failed: countedFailures,",
  },
  "job-finished-before-expectations": {
    entry: "#7",
    issue: "kubernetes/kubernetes#109485",
    sentence:
      "A Job fails while pods that it has created are not in the cache yet: they keep running, and are never counted.",
    needs: { consistencyGate: "off" },
    inPlan: [/"consistencyGate":false/],
    file: "packages/job/src/reconcile-status.ts",
    find: 'return expectationsSatisfied ? undefined : "ExpectationsPending";',
    replace: "return undefined;",
  },
  "job-finished-forgotten": {
    entry: "#3",
    issue: "kubernetes/kubernetes#130103",
    sentence: "A sync of a finished Job whose cached copy is not finished yet creates new pods.",
    needs: { consistencyGate: "off" },
    inPlan: [/"consistencyGate":false/],
    file: "packages/job/src/sync-job.ts",
    find: "return memory.finished.has(uid) ? undefined : job;",
    replace: "return job;",
  },
  "job-finished-with-finalizers": {
    entry: "#8",
    issue: "kubernetes/kubernetes#119159",
    sentence: "A sync that stopped at the limit of pods that it may count ends the Job: the others are never counted.",
    needs: { limits: { maxUncountedPods: 3 } },
    file: "packages/job/src/account-pods.ts",
    find: 'if (capReached) return { type: "PodsLeftToCount" };',
    replace: "",
  },
  "job-ignored-failure-forgets-others": {
    entry: "own",
    sentence: "An index that fails with a failure that the policy ignores is retried as if it had not failed before.",
    inPlan: [/"Ignore"/, /backoffLimitPerIndex/],
    file: "packages/job/src/index-failure-counts.ts",
    find: "{ failures, ignored: ignored + 1 };",
    replace: "{ failures: 0, ignored: ignored + 1 };",
  },
  "job-ignored-failures-not-delayed": {
    entry: "#15",
    issue: "kubernetes/kubernetes#119378",
    sentence: "Pods whose failure the pod failure policy ignores are replaced without delay.",
    inPlan: [/"Ignore"/],
    changes: [
      {
        file: "packages/job/src/plan-job.ts",
        find: 'import { comparePodsByAge, completionIndexOf } from "./pod-state.js";',
        replace: `import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { comparePodsByAge, completionIndexOf } from "./pod-state.js";`,
      },
      {
        file: "packages/job/src/plan-job.ts",
        find: "nextBackoffRecord(before, newSuccesses(observed, indexes), observed.newlyFailed);",
        replace: `nextBackoffRecord(
    before,
    newSuccesses(observed, indexes),
    observed.newlyFailed.filter((pod) => matchPodFailurePolicy(job.spec?.podFailurePolicy, pod).counts),
  );`,
      },
    ],
  },
  "job-index-annotation-edited": {
    entry: "#20",
    issue: "kubernetes/kubernetes#140839",
    sentence: "A pod whose index annotation a user edits counts for that index, and its original index is retried.",
    permitted: true,
    changes: [],
  },
  "job-managed-elsewhere": {
    entry: "own",
    sentence: "Jobs that another controller manages are synced.",
    inPlan: [/managedBy/],
    file: "packages/job/src/skip-reason.ts",
    find: "if (isManagedElsewhere(job, managedBy)) return skipped(",
    replace: "if (isManagedElsewhere(job, managedBy) && isJobFinished(job)) return skipped(",
  },
  "job-max-failed-indexes-plus-one": {
    entry: "own",
    sentence: "A Job fails only when two more of its indexes have failed than `maxFailedIndexes` says.",
    inPlan: [/maxFailedIndexes/],
    file: "packages/job/src/end-state.ts",
    find: "failed > maxFailedIndexes)",
    replace: "failed > maxFailedIndexes + 1)",
  },
  "job-onfailure-uncapped": {
    entry: "#13",
    issue: "kubernetes/kubernetes#54870",
    sentence: "Restarts in place do not count for backoffLimit.",
    inPlan: [/OnFailure/],
    file: "packages/job/src/end-state.ts",
    find: "return limit === 0 ? restarts > 0 : restarts >= limit;",
    replace: "return false;",
  },
  "job-onfailure-zero-limit": {
    entry: "#14",
    issue: "kubernetes/kubernetes#67848",
    sentence: "A Job with restartPolicy OnFailure and a backoffLimit of 0 fails before its first pod has begun.",
    inPlan: [/OnFailure/],
    file: "packages/job/src/end-state.ts",
    find: "return limit === 0 ? restarts > 0 : restarts >= limit;",
    replace: "return restarts >= limit;",
  },
  "job-orphan-error-swallowed": {
    entry: "#2",
    issue: "kubernetes/kubernetes#141346",
    sentence:
      "A pod found by the selector of a deleted Job, whose finalizer could not be removed, is forgotten, and stays forever.",
    inPlan: [/requestFails|apiServerDown/],
    file: "packages/job/src/orphan-pods.ts",
    find: "if (refusal !== undefined) throw refusal;",
    replace: "",
  },
  "job-orphan-pods-not-queued": {
    entry: "#6",
    issue: "kubernetes/kubernetes#108645",
    sentence:
      "The finalizer of a pod without a Job that syncs it is not removed on changes: a pod that appears, or loses its owner, after the Job is gone keeps it.",
    file: "packages/job/src/event-handlers.ts",
    find: "if (hasTrackingFinalizer(pod)) orphanQueue.add(orphanPodKey(pod));",
    replace: "",
  },
  "job-orphans-not-cleaned": {
    entry: "#6",
    issue: "kubernetes/kubernetes#108645",
    sentence:
      "When a Job is deleted, no sync handles its pods: those that were being deleted before keep their finalizer.",
    inPlan: [/"delete":\{/],
    file: "packages/job/src/event-handlers.ts",
    find: `    addOrphans(job);
    memory.backoff.delete(keyOf(job));`,
    replace: "    memory.backoff.delete(keyOf(job));",
  },
  "job-per-index-limit-plus-one": {
    entry: "own",
    sentence: "An index is retried one time more than `backoffLimitPerIndex` permits.",
    inPlan: [/backoffLimitPerIndex/],
    file: "packages/job/src/observed-indexes.ts",
    find: "indexFailureCountsOf(pod).failures >= limit",
    replace: "indexFailureCountsOf(pod).failures > limit",
  },
  "job-pod-without-finalizer": {
    entry: "3.1",
    issue: "kubernetes/kubernetes#28486",
    sentence: "Pods are created without the tracking finalizer: their results are never counted.",
    file: "packages/job/src/pod-template.ts",
    find: "const tracked = finalizers.includes(JOB_TRACKING_FINALIZER) ? finalizers : [...finalizers, JOB_TRACKING_FINALIZER];",
    replace: "const tracked = finalizers;",
  },
  "job-removed-count-failed": {
    entry: "own",
    sentence: "Pods that are deleted because fewer, or none, are wanted keep their finalizer, and count as failed.",
    file: "packages/job/src/apply-pod-plan.ts",
    find: "await removeTrackingFinalizer(sync.deps.podControl, pod, sync.signal);",
    replace: "",
  },
  "job-repeated-index": {
    entry: "#19",
    issue: "kubernetes/kubernetes#99865",
    sentence:
      "An Indexed Job counts succeeded pods instead of indexes: two pods of one index replace an index that never ran.",
    inPlan: [/"Indexed"/],
    file: "packages/job/src/plan-job.ts",
    find: "const succeeded = indexes === undefined ? observed.succeeded : countIndexes(indexes.succeeded);",
    replace: "const { succeeded } = observed;",
  },
  "job-resume-start-time": {
    entry: "3.1",
    issue: "kubernetes/kubernetes#134521",
    sentence:
      "A suspended Job keeps its start time, and the API server rejects the new one of a resumed Job: the Job stalls.",
    inPlan: [/"suspend"/],
    changes: [
      {
        file: "packages/job/src/reconcile-status.ts",
        find: "const startTime = suspended ? (clearsStartTime ? undefined : draft.startTime) : formatTime(nowMs);",
        replace: "const startTime = suspended ? draft.startTime : formatTime(nowMs);",
      },
      {
        file: "packages/apiserver/src/kinds/job/status-validation.ts",
        find: "before.startTime !== status.startTime && !isResumed && ",
        replace: "before.startTime !== status.startTime && ",
      },
    ],
  },
  "job-stale-pod-counted-twice": {
    entry: "#4",
    issue: "kubernetes/kubernetes#105200",
    sentence: "A pod that was counted, and whose removed finalizer is still in the cache, is counted again.",
    needs: { consistencyGate: "off" },
    inPlan: [/"consistencyGate":false/],
    file: "packages/expectations/src/finalizer-expectations.ts",
    find: "return expected === undefined ? this.#none : new Set(expected);",
    replace: "return this.#none;",
  },
  "job-succeeded-then-failed": {
    entry: "#10",
    issue: "kubernetes/kubernetes#125410",
    sentence:
      "A pod that is recorded as succeeded, and fails before its finalizer is removed, is recorded as failed too: the API server rejects every later status.",
    inPlan: [/"subresource":"status"/],
    file: "packages/job/src/account-pods.ts",
    find: " && !recordedFailed.has(uid) && !recordedSucceeded.has(uid)) {",
    replace: " && !recordedFailed.has(uid)) {",
  },
  "job-success-deletes-once": {
    entry: "own",
    sentence:
      "Pods that were to be deleted when their Job succeeded, and whose deletion was refused, are never deleted.",
    inPlan: [/"successPolicy"/],
    file: "packages/job/src/track-pods.ts",
    find: "const final = recordsBeforeDeleting(plan) ? await deleteActivePods(sync) : outcome;",
    replace:
      "const final = recordsBeforeDeleting(plan) && !plan.end?.recorded ? await deleteActivePods(sync) : outcome;",
  },
  "job-success-keeps-older-failures": {
    entry: "own",
    sentence: "Failures that are observed together with a later success still delay the next pod.",
    file: "packages/job/src/backoff.ts",
    find: "failed.filter((pod) => podFinishTimeMs(pod) > lastSuccessMs);",
    replace: "failed;",
  },
  "job-terminating-always-waited": {
    entry: "own",
    sentence: "Terminating pods delay replacements regardless of `podReplacementPolicy`.",
    file: "packages/job/src/plan-pods.ts",
    find: "const terminating = replacesOnlyFailedPods(job) ? observed.terminating.length : 0;",
    replace: "const terminating = observed.terminating.length;",
  },
  "job-tombstones-ignored": {
    entry: "E7",
    issue: "kubernetes/kubernetes#115658",
    sentence: "A pod that was deleted while the watch was interrupted queues no Job, and its expectations stay.",
    inPlan: [/"watchCut":\{("controller":"job-controller","kinds":\["Pod"\],)?"compacted":true|staleList/],
    file: "packages/job/src/event-handlers.ts",
    find: `      const pod = deletedObject(deleted);
      if (pod !== undefined) onRemoved(pod, true);`,
    replace: "      if (!isDeletedFinalStateUnknown(deleted)) onRemoved(deleted, true);",
  },
  "job-uid-recreated": {
    entry: "3.1",
    sentence:
      "Pods are adopted and released, and expired Jobs deleted, without a UID precondition: another object that has taken the name is hit.",
    inPlan: [/"apply":\{"apiVersion":"(batch\/)?v1","kind":"(CronJob|Job|Pod)"/],
    changes: [
      {
        file: "packages/ttl-after-finished/src/sync-job.ts",
        find: 'propagationPolicy: "Foreground", preconditions: { uid }, signal',
        replace: 'propagationPolicy: "Foreground", signal',
      },
      {
        file: "packages/controller/src/controller-ref-manager.ts",
        find: "const metadata = { ownerReferences: [reference], uid, ",
        replace: "const metadata = { ownerReferences: [reference], ",
      },
      {
        file: "packages/controller/src/controller-ref-manager.ts",
        find: `      uid,
      ownerReferences: [{ $patch`,
        replace: "      ownerReferences: [{ $patch",
      },
    ],
  },
  "job-uncounted-dropped-early": {
    entry: "#5",
    issue: "kubernetes/kubernetes#104666",
    sentence:
      "All recorded pods become numbers, although a sync removes only a limited number of finalizers: pods that keep theirs are counted again.",
    needs: { limits: { maxUncountedPods: 2 } },
    inPlan: [/"maxUncountedPods":[235]\b/, /requestFails|apiServer|controllerCrashes|controllerDown|paused/],
    file: "packages/job/src/account-pods.ts",
    find: "const withoutFinalizer = countPodsWithoutFinalizer(counted.draft, accounting.tracked, finalizerRemovedUIDs);",
    replace:
      "const withoutFinalizer = countPodsWithoutFinalizer(counted.draft, finalizerRemovalFailed ? accounting.tracked : [], finalizerRemovedUIDs);",
  },
};
