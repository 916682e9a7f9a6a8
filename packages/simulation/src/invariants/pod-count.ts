import type { DeepReadonly, Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";

import type { Invariant, InvariantChecks } from "../invariant.js";
import { freeIndexes } from "./free-indexes.js";
import { IndexSet } from "./index-set.js";
import { jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  type StoredJobSpec,
  countsAsFailed,
  failuresBefore,
  indexOf,
  isIndexed,
  isReady,
  knownEndMs,
  policyAction,
  replacesOnlyFailed,
  wantedPods,
} from "./job-state.js";
import { lastWrittenOf, problemInEverySpec } from "./last-written.js";
import { podsPerSync } from "./plan-settings.js";
import { JOB_CONTROLLER, nameOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go manageJob; indexed_job_utils.go; controller_utils.go ActivePods. */
export const podCountMatchesSpec: Invariant = {
  name: "S23 pod count matches the spec",
  sentence:
    "A sync that may change pods deletes all surplus pods, lowest rank first, or else creates all missing pods unless it " +
    "waits for a back-off: each for an index that has not ended and has no running pod, with the failure count of the " +
    "index's last pod, and at most as many as one sync may. It counts all successes that its status records.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const maxPerSync = podsPerSync(world);
    const written = lastWrittenOf(world);
    return {
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const { plan, uid } = reported.decision;
        const { pods } = plan;
        const known = written.ofSync;
        const job = records.jobs.get(uid);
        if (job === undefined || pods === undefined) return;
        const successes = known === undefined ? 0 : successesOf(known);
        if (plan.succeeded < successes)
          violated(
            nameOf(job.object, "Job"),
            `goes by ${plan.succeeded} successes, and its status records ${successes}`,
          );
        const wrong = problemInEverySpec(known, job, (spec) => planProblem(spec, plan, pods, maxPerSync));
        if (wrong !== undefined) violated(nameOf(job.object, "Job"), wrong);
      },
    };
  },
};

/** Returns the successes that a status records, as numbers and UIDs. */
function successesOf({ spec, status }: StoredJob): number {
  if (spec !== undefined && isIndexed(spec))
    return new IndexSet(status?.completedIndexes).sizeBelow(spec.completions ?? 0);
  return (status?.succeeded ?? 0) + (status?.uncountedTerminatedPods?.succeeded?.length ?? 0);
}

type Plan = JobDecision["plan"];
type PodPlan = NonNullable<Plan["pods"]>;
type ObservedPod = DeepReadonly<Pod>;

/** Returns a problem of a plan for a Job with that spec. */
function planProblem(spec: StoredJobSpec, plan: Plan, pods: PodPlan, maxPerSync: number): string | undefined {
  const { active, terminating } = plan.observed;
  const { create, remove, retryAfterMs } = pods;
  const isSuspended = spec.suspend === true;
  const wanted = isSuspended ? 0 : (wantedPods(spec, plan.succeeded) ?? active.length);
  const useless = isIndexed(spec) ? uselessPods(active, spec.completions ?? 0) : new Set<ObservedPod>();
  const tooMany = Math.max(active.length - wanted, useless.size);
  if (remove.length < (isSuspended ? tooMany : Math.min(tooMany, maxPerSync)))
    return `removes ${remove.length} of ${active.length} active pods, and ${tooMany} are too many`;
  if (remove.length > 0) return useless.size > 0 ? undefined : removalOrderProblem(active, remove);
  for (const { index, failureCounts } of create) {
    if (index === undefined) continue;
    const wrong = indexProblem(index, spec, plan) ?? failureCountProblem(index, failureCounts, spec, plan);
    if (wrong !== undefined) return `creates a pod of index ${index}, ${wrong}`;
  }
  if (new Set(create.map(({ index }, position) => index ?? -1 - position)).size < create.length)
    return "creates two pods of one index";
  // Which indexes are due depends on when their pods failed.
  if (retryAfterMs !== undefined || spec.backoffLimitPerIndex != null) return undefined;
  const going = replacesOnlyFailed(spec) ? terminating.length : 0;
  const missing = Math.min(wanted - active.length - going, maxPerSync);
  if (create.length >= missing) return undefined;
  const free = isIndexed(spec) ? freeIndexes(spec, plan).length : missing;
  return create.length >= free
    ? undefined
    : `creates ${create.length} pods beside ${active.length}, and ${Math.min(missing, free)} are missing`;
}

/** Returns the pods without an index below `completions`, and all but one pod of each index. */
function uselessPods(pods: readonly ObservedPod[], completions: number): ReadonlySet<ObservedPod> {
  const taken = new Set<number>();
  const useless = new Set<ObservedPod>();
  for (const pod of pods) {
    const index = indexOf(pod, completions);
    if (index === undefined || taken.has(index)) useless.add(pod);
    else taken.add(index);
  }
  return useless;
}

/** Returns a problem when a deleted pod ranks higher than one that stays. */
function removalOrderProblem(active: readonly ObservedPod[], remove: readonly ObservedPod[]): string | undefined {
  const going = new Set(remove.map(({ metadata }) => metadata.uid));
  let min: ObservedPod | undefined;
  for (const pod of active)
    if (!going.has(pod.metadata.uid) && (min === undefined || removalRank(pod) < removalRank(min))) min = pod;
  if (min === undefined) return undefined;
  const wrong = remove.find((pod) => removalRank(pod) > removalRank(min));
  return wrong && `removes ${nameOf(wrong, "Pod")}, and keeps ${nameOf(min, "Pod")}, which is missed less`;
}

/**
 * Ranks a pod for deletion: pods with a higher rank are deleted later. The rank considers node, phase and readiness;
 * the remaining criteria are left out.
 */
function removalRank({ spec, status, ...pod }: ObservedPod): number {
  const phase = status?.phase === "Running" ? 2 : status?.phase === "Unknown" ? 1 : 0;
  const ready = isReady({ ...pod, ...(status === undefined ? {} : { status }) }) ? 1 : 0;
  return ((spec?.nodeName ?? "") === "" ? 0 : 10) + phase * 2 + ready;
}

/** Explains why no pod of this index may be created. */
function indexProblem(index: number, spec: StoredJobSpec, { observed, indexes }: Plan): string | undefined {
  if (index >= (spec.completions ?? 0)) return `and completions is ${spec.completions}`;
  const hasIndex = (pod: ObservedPod): boolean => indexOf(pod) === index;
  if (observed.active.some(hasIndex)) return "which runs";
  if (replacesOnlyFailed(spec) && observed.terminating.some(hasIndex)) return "which has not ended yet";
  const isIn = (runs: readonly { readonly first: number; readonly last: number }[] = []): boolean =>
    runs.some(({ first, last }) => first <= index && index <= last);
  if (isIn(indexes?.succeeded)) return "which has succeeded";
  if (isIn(indexes?.failed) || observed.tracked.some((pod) => hasIndex(pod) && isLastFailure(pod, spec)))
    return "which has failed for good";
  return undefined;
}

/**
 * Returns a problem when a new pod does not carry over the failure count of its index. Upstream: indexed_job_utils.go
 * getNewIndexFailureCounts.
 */
function failureCountProblem(
  index: number,
  carried: PodPlan["create"][number]["failureCounts"],
  spec: StoredJobSpec,
  { observed }: Plan,
): string | undefined {
  if (carried === undefined) return undefined;
  const failed = observed.tracked.filter((pod) => indexOf(pod) === index && countsAsFailed(pod, spec));
  const last = failed.filter((pod) => !failed.some((other) => isFollowedBy(pod, other)));
  const isRight = ([failures, ignored]: readonly [number, number]): boolean =>
    carried.failures === failures && carried.ignored === ignored;
  if (last.length === 0 ? isRight([0, 0]) : last.some((pod) => isRight(failuresWith(pod, spec)))) return undefined;
  return `with ${carried.failures} failures and ${carried.ignored} ignored ones before it, which no failed pod of it records`;
}

/** Returns the failures of the index including this pod, as `[counted, ignored]`. */
function failuresWith(pod: ObservedPod, spec: StoredJobSpec): readonly [number, number] {
  const [failures, ignored] = failuresBefore(pod);
  return policyAction(spec.podFailurePolicy, pod) === "Ignore" ? [failures, ignored + 1] : [failures + 1, ignored];
}

/** Reports whether the other pod certainly is a later failure of the same index. */
function isFollowedBy(pod: ObservedPod, other: ObservedPod): boolean {
  const attempt = (each: ObservedPod): number => failuresBefore(each)[0] + failuresBefore(each)[1];
  const endMs = knownEndMs(pod);
  const otherMs = knownEndMs(other);
  return attempt(other) > attempt(pod) && endMs !== undefined && otherMs !== undefined && otherMs >= endMs;
}

/** Reports whether the index fails for good with this pod. Upstream: indexed_job_utils.go isIndexFailed. */
function isLastFailure(pod: ObservedPod, spec: StoredJobSpec): boolean {
  if (spec.backoffLimitPerIndex == null) return false;
  if (!countsAsFailed(pod, spec)) return false;
  const action = policyAction(spec.podFailurePolicy, pod);
  return action === "FailIndex" || (action !== "Ignore" && failuresBefore(pod)[0] >= spec.backoffLimitPerIndex);
}
