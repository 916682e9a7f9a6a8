import { findCondition, finishedCondition, isConditionTrue } from "@kubewright/api";

import type { Invariant, InvariantChecks, Violated } from "../invariant.js";
import type { StoredChange } from "../world.js";
import { type JobRecords, jobRecordsOf } from "./job-records.js";
import { type StoredJob, isActive, isTracked } from "./job-state.js";
import { waitsForWrites } from "./plan-settings.js";
import { JOBS, JOB_CONTROLLER, PODS, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go enactJobFinished, and validation.go of the API server. */
export const terminalStatusIsFinal: Invariant = {
  name: "S3 terminal status is final",
  sentence:
    "A Job is Complete or Failed, never both. Then no pod is uncounted, active or terminating, and none runs or is tracked; " +
    "FailureTarget or SuccessCriteriaMet was stored before, for the same reason, and stays; the status never changes again.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    /**
     * Pods that the sync that ended a Job may not have observed, until its decision is reported; by incarnation and the
     * Job's UID.
     */
    const unconfirmed = new Map<string, readonly UnconfirmedPod[]>();
    return {
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const key = `${incarnationKeyOf({ ...reported, component: reported.controller })} ${reported.decision.uid}`;
        const pods = unconfirmed.get(key);
        if (pods === undefined) return;
        unconfirmed.delete(key);
        const { active, tracked } = reported.decision.plan.observed;
        const seen = new Set([...active, ...tracked].map(({ metadata }) => metadata.uid));
        const wrong = pods.find(({ uid }) => seen.has(uid));
        if (wrong !== undefined) violated(wrong.subject, wrong.message);
      },
      onChange(change) {
        const { previous, request } = change;
        if (change.resource !== JOBS || change.type !== "MODIFIED" || previous === undefined) return;
        if (request?.component !== JOB_CONTROLLER) return;
        const job = change.object as StoredJob;
        checkDecided(job, previous, violated);
        if (finishedCondition(job) === undefined && finishedCondition(previous as StoredJob) === undefined) return;
        if (finishedCondition(previous as StoredJob) !== undefined) checkUnchanged(change, violated);
        else {
          const pods = checkEnd(change, { records, waitsForWrites: waitsForWrites(world) }, violated);
          if (pods.length > 0) unconfirmed.set(`${incarnationKeyOf(request)} ${uidOf(job)}`, pods);
        }
      },
    };
  },
};

function checkUnchanged({ object, previous }: StoredChange, violated: Violated): void {
  const job = object as StoredJob;
  const before = previous as StoredJob;
  if (JSON.stringify(job.status) === JSON.stringify(before.status)) return;
  const end = finishedCondition(before)!;
  violated(nameOf(job, "Job"), `its status changes after it was ${end.type} (${end.reason ?? ""})`);
}

/** Checks that a decided end stays, and matches the terminal condition. */
function checkDecided(job: StoredJob, before: StoredJob, violated: Violated): void {
  for (const [interim, terminal] of ENDS) {
    const decided = findCondition(before.status?.conditions, interim);
    if (decided?.status !== "True") continue;
    const now = findCondition(job.status?.conditions, interim);
    if (now?.status !== "True" || now.reason !== decided.reason)
      violated(nameOf(job, "Job"), `was ${interim} (${decided.reason}), and is not any more`);
    const end = findCondition(job.status?.conditions, terminal);
    if (end?.status === "True" && (end.reason !== decided.reason || end.message !== decided.message))
      violated(nameOf(job, "Job"), `is ${terminal} (${end.reason}), and was ${interim} (${decided.reason})`);
  }
}

const ENDS = [
  ["FailureTarget", "Failed"],
  ["SuccessCriteriaMet", "Complete"],
] as const;

/** A pod that still exists at the end of its Job. */
interface UnconfirmedPod {
  readonly uid: string;
  readonly subject: string;
  readonly message: string;
}

interface EndContext {
  readonly records: JobRecords;
  /** Whether syncs wait until the caches show their own writes. */
  readonly waitsForWrites: boolean;
}

/** @returns Pods that still exist, where it is unknown whether the writer of the end has observed them. */
function checkEnd(
  change: StoredChange,
  { records, waitsForWrites }: EndContext,
  violated: Violated,
): readonly UnconfirmedPod[] {
  const job = change.object as StoredJob;
  const before = change.previous as StoredJob;
  const { status } = job;
  const refuse = (message: string): void => violated(nameOf(job, "Job"), message);
  const end = finishedCondition(job)!;
  if (isConditionTrue(status?.conditions, "Complete") && isConditionTrue(status?.conditions, "Failed"))
    refuse("is Complete and Failed");
  const uncounted = status?.uncountedTerminatedPods;
  const left = (uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0);
  if (left > 0) refuse(`is ${end.type} with ${left} pods recorded and not counted`);
  if ((status?.active ?? 0) > 0) refuse(`is ${end.type} with ${status?.active} active pods`);
  if ((status?.terminating ?? 0) > 0) refuse(`is ${end.type} with ${status?.terminating} terminating pods`);
  const interim = end.type === "Failed" ? "FailureTarget" : "SuccessCriteriaMet";
  if (!isConditionTrue(before.status?.conditions, interim)) refuse(`is ${end.type}, and was not ${interim} before`);
  const record = records.jobs.get(uidOf(job));
  if (record === undefined || record.externallyModified || records.mayReadStaleState) return [];
  // Enough successes complete a Job even if the cache does not show all its pods, unless syncs wait for their own
  // writes.
  const maySeeTooFew = !waitsForWrites && end.reason === "CompletionsReached";
  const unconfirmed: UnconfirmedPod[] = [];
  for (const pod of record.livePods.values()) {
    if (pod.flipped || (!isActive(pod.object) && !isTracked(pod.object))) continue;
    const what = isActive(pod.object) ? "runs" : "is not accounted for";
    const message = `is ${end.type} while ${nameOf(pod.object, "Pod")} ${what}`;
    // A pod that the writer of the end cannot know about has to lose its finalizer later: L2.
    const isHidden = records.isHiddenFrom(pod, change.request!);
    if (!isHidden && !(maySeeTooFew && !records.isShownTo(pod, change.request!))) {
      refuse(message);
      return [];
    }
    unconfirmed.push({ uid: pod.uid, subject: nameOf(job, "Job"), message });
  }
  return unconfirmed;
}

/** Upstream: job_controller.go syncJob, its gate for Jobs that it has ended. */
export const noPodAfterTermination: Invariant = {
  name: "S4 no pod after termination",
  sentence:
    "No pod is created for a Job that is stored as Complete or Failed, if the controller could know " +
    "it: from the response to its own write, from its cache, or by waiting for its cache.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    return {
      onChange(change) {
        const { request } = change;
        if (change.resource !== PODS || change.type !== "ADDED" || request?.component !== JOB_CONTROLLER) return;
        const job = records.pods.get(uidOf(change.object))?.job;
        if (job?.finishedMs === undefined || records.mayReadStaleState) return;
        // A request of another incarnation that was sent before the end may still take effect: exception X9.
        if (request.sentMs <= job.finishedMs && incarnationKeyOf(request) !== job.finishedBy) return;
        if (!waitsForWrites(world) && records.isEndHiddenFrom(job, request)) return;
        const end = finishedCondition(job.object)!;
        violated(
          nameOf(job.object, "Job"),
          `gets ${nameOf(change.object, "Pod")}, ${change.atMs - job.finishedMs} ms after it was ${end.type}`,
        );
      },
    };
  },
};
