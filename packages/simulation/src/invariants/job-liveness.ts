import { JOB_TRACKING_FINALIZER, finishedCondition, isConditionTrue, labelSelectorMatcher } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import { durationOf } from "../scenario/scenario-times.js";
import type { AnsweredRequest, Stored, World } from "../world.js";
import {
  type JobRecords,
  type JobRecord,
  activePods,
  isAdoptedAndGone,
  isCreationMissed,
  jobRecordsOf,
} from "./job-records.js";
import {
  type StoredPod,
  isActive,
  isTerminating,
  isTracked,
  replacesOnlyFailed,
  restartsOf,
  wantedPods,
} from "./job-state.js";
import { LONGEST_REQUEST_MS } from "./longest-request.js";
import { clockMayBeWrong, waitsForWrites } from "./plan-settings.js";
import { JOBS, JOB_CONTROLLER, PODS, isBeingDeleted, nameOf, ownerOfKind, uidOf } from "./stored-objects.js";

const FINALIZER_REMOVED_MS = 120_000;
const STARTS_MS = 120_000;

/** Upstream: pkg/controller/job/job_controller.go syncOrphanPod. */
export const noStuckFinalizer: Invariant = {
  name: "L2 no stuck finalizer",
  sentence:
    "120 s after the last fault, no pod has kept the tracking finalizer for 120 s " +
    "whose Job has finished, or is gone or being deleted and selects it.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    /** When a pod, or the Job it names, last changed. */
    const changedMs = new Map<string, number>();
    /** When a Job was deleted, or its deletion began. */
    const goneMs = new Map<string, number>();
    return {
      onChange(change) {
        if (change.resource === PODS) changedMs.set(uidOf(change.object), change.atMs);
        if (change.resource !== JOBS) return;
        const uid = uidOf(change.object);
        if (change.type === "DELETED" || (isBeingDeleted(change.object) && !goneMs.has(uid)))
          goneMs.set(uid, change.atMs);
      },
      atRest() {
        const sinceMs = world.nowMs - FINALIZER_REMOVED_MS;
        if (world.healedMs > sinceMs) return;
        for (const pod of records.pods.values()) {
          if (pod.gone || !isTracked(pod.object)) continue;
          const job = pod.job;
          const endedMs = job === undefined ? -Infinity : (goneMs.get(job.uid) ?? job.finishedMs);
          const lastMs = Math.max(changedMs.get(pod.uid) ?? -Infinity, endedMs ?? -Infinity);
          if (lastMs > sinceMs || isManagedElsewhere(job)) continue;
          const reason = stuckReason(pod.object, job);
          if (reason !== undefined)
            violated(nameOf(pod.object, "Pod"), `keeps ${JOB_TRACKING_FINALIZER}, and ${reason}`);
        }
      },
    };
  },
};

function isManagedElsewhere(job: JobRecord | undefined): boolean {
  const managedBy = job?.object.spec?.managedBy;
  return managedBy != null && managedBy !== "kubernetes.io/job-controller";
}

/**
 * Pods of a deleted Job are deleted as garbage; until their deletion is requested, the garbage collector is late (L3).
 */
function stuckReason({ metadata }: StoredPod, job: JobRecord | undefined): string | undefined {
  const isDeleted = metadata.deletionTimestamp != null;
  if (job === undefined) return isDeleted ? "has no Job" : undefined;
  const name = nameOf(job.object, "Job");
  if (!job.gone && job.finishedMs !== undefined) return `its ${name} has finished`;
  // The pods of a deleted Job are found only by its selector.
  if (!labelSelectorMatcher(job.object.spec?.selector)(metadata.labels)) return undefined;
  if (job.gone) return isDeleted ? `its ${name} is gone` : undefined;
  return isBeingDeleted(job.object) && !job.externallyModified ? `its ${name} is being deleted` : undefined;
}

/** Upstream: job_controller.go syncJob. */
export const jobsProgress: Invariant = {
  name: "L1 Jobs make progress",
  sentence:
    "120 s after the last fault, no Job lacks pods that it wants, lacks a terminal condition that it " +
    "has reached, or exceeds a limit. Exceptions: terminating pods, back-off, suspension and, where " +
    "syncs do not wait for their caches, pods that were gone before they were observed.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    /** When a Job or one of its pods last changed. */
    const changedMs = new Map<string, number>();
    const forbidden = new Set<string>();
    /** Since when the container restarts of a Job have exceeded its limit. */
    const restartedMs = new Map<string, number>();
    return {
      onAnswer(request) {
        // A quota may prevent the creation of pods for good.
        if (request.code === 403 && request.component === JOB_CONTROLLER) forbidden.add(request.namespace);
      },
      onChange(change) {
        const job =
          change.resource === JOBS
            ? records.jobs.get(uidOf(change.object))
            : change.resource === PODS
              ? records.pods.get(uidOf(change.object))?.job
              : undefined;
        if (job === undefined) return;
        changedMs.set(job.uid, change.atMs);
        if (!exceedsRestarts(job)) restartedMs.delete(job.uid);
        else if (!restartedMs.has(job.uid)) restartedMs.set(job.uid, change.atMs);
      },
      atRest() {
        const sinceMs = world.nowMs - STARTS_MS;
        if (world.healedMs > sinceMs || records.mayReadStaleState) return;
        for (const job of records.jobs.values()) {
          if (job.gone || job.externallyModified) continue;
          // A Job with crashing containers changes all the time.
          if ((restartedMs.get(job.uid) ?? Infinity) < sinceMs)
            violated(nameOf(job.object, "Job"), "is unfinished, and container restarts exceed its limit");
          if ((changedMs.get(job.uid) ?? 0) > sinceMs) continue;
          const isRefused = forbidden.has(job.object.metadata.namespace ?? "");
          const wrong = stallReason(job, world, isRefused);
          if (wrong !== undefined) violated(nameOf(job.object, "Job"), wrong);
        }
      },
    };
  },
};

/** Upstream: job_controller.go pastBackoffLimitOnFailure. */
function exceedsRestarts(job: JobRecord): boolean {
  const { spec, status } = job.object;
  if (spec?.template.spec?.restartPolicy !== "OnFailure" || isManagedElsewhere(job) || spec.suspend === true)
    return false;
  if (isBeingDeleted(job.object) || job.finishedMs !== undefined) return false;
  if (["FailureTarget", "SuccessCriteriaMet"].some((type) => isConditionTrue(status?.conditions, type))) return false;
  let restarts = 0;
  for (const { object } of job.livePods.values()) if (isActive(object)) restarts += restartsOf(object);
  return restarts > 0 && restarts >= (spec.backoffLimit ?? 6);
}

const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 600_000;
const BACK_OFF_SLACK_MS = 10_000;

/** Returns the longest back-off before a replacement, for a number of failed or deleted pods. */
function longestBackOffMs(count: number): number {
  return count === 0 ? 0 : Math.min(FIRST_BACK_OFF_MS * 2 ** (count - 1), LONGEST_BACK_OFF_MS) + BACK_OFF_SLACK_MS;
}

function stallReason(job: JobRecord, world: World, isRefused: boolean): string | undefined {
  const { nowMs } = world;
  const { object } = job;
  const { spec, status } = object;
  if (finishedCondition(object) !== undefined || isBeingDeleted(object) || spec === undefined) return undefined;
  if (isManagedElsewhere(job)) return undefined;
  const pods = [...job.livePods.values()].map((pod) => pod.object);
  // Exception X15: a sync waits for terminating pods for as long as they take.
  if (pods.some(isTerminating)) return undefined;
  // The sync waits to observe a pod that it created, or the deletion of one whose adoption it did not observe: no event
  // follows when these expectations expire.
  if (!waitsForWrites(world) && job.allPods.some((pod) => isCreationMissed(pod) || isAdoptedAndGone(pod)))
    return undefined;
  const ending = ["FailureTarget", "SuccessCriteriaMet"].find((type) => isConditionTrue(status?.conditions, type));
  if (ending !== undefined) return `is ${ending} and does not finish`;
  const failed = status?.failed ?? 0;
  if (failed > (spec.backoffLimit ?? Infinity))
    return `has failed ${failed} times, and its limit is ${spec.backoffLimit}`;
  if (spec.suspend === true) return pods.some(isActive) ? "is suspended, and its pods still run" : undefined;
  // A clock that was set back sees failures in the future: the back-off and the deadline last longer.
  const startedMs = job.startMs;
  const deadlineMs = (spec.activeDeadlineSeconds ?? Infinity) * 1000;
  const startTimeMs = status?.startTime == null ? undefined : Date.parse(status.startTime);
  if (clockMayBeWrong(world)) return undefined;
  if (startedMs !== undefined && startTimeMs !== undefined && nowMs - startTimeMs > deadlineMs + STARTS_MS)
    return `has been active for ${(nowMs - startTimeMs) / 1000} s, and its deadline is ${spec.activeDeadlineSeconds} s`;
  const active = activePods(job).length;
  const succeeded = status?.succeeded ?? 0;
  const wanted = wantedPods(spec, succeeded);
  if (active === 0 && (wanted === undefined || (spec.completions != null && succeeded >= spec.completions)))
    return `has as many successes as it wants, and does not complete`;
  if (isRefused || wanted === undefined || active >= wanted) return undefined;
  const ended = job.allPods.filter((pod) => pod.everFailed || pod.everTerminating);
  const lastEndMs = Math.max(...ended.map((pod) => endOf(pod.object)), 0);
  // Each sync that cannot remove the finalizer of an ignored failure counts the failure again.
  const failures = spec.podFailurePolicy != null && ended.length > 0 ? Infinity : ended.length;
  if (nowMs - lastEndMs < longestBackOffMs(failures)) return undefined;
  if (spec.backoffLimitPerIndex != null || replacesOnlyFailed(spec)) {
    // Failed indexes are not retried, so fewer pods may run than are wanted.
    if ((status?.failedIndexes ?? "") !== "") return undefined;
  }
  return `has ${active} active pods and wants ${wanted}`;
}

function endOf({ metadata, status }: JobRecord["allPods"][number]["object"]): number {
  const finishes = (status?.containerStatuses ?? []).map(({ state }) =>
    Date.parse(state?.terminated?.finishedAt ?? ""),
  );
  const times = [
    ...finishes,
    Date.parse(metadata.deletionTimestamp ?? ""),
    Date.parse(metadata.creationTimestamp ?? ""),
  ];
  return Math.max(...times.filter((time) => !Number.isNaN(time)), 0);
}

/** The longest time from a refusal to the retry, with some slack, plus the longest duration of that retry. */
const RETRY_MS = 65_000 + LONGEST_REQUEST_MS;
/** A slower request occupies one of few workers and delays the keys in the queue. */
const SLOW_REQUEST_MS = 1_000;

/** Upstream: pkg/controller/controller_utils.go, expectations; job_controller.go manageJob, its slow start. */
export const retriesContinue: Invariant = {
  name: "L9 retries continue",
  sentence:
    "A Job one of whose pods could not be created or deleted gets a retry within 65 s, with a " +
    "known result within 30 s, when there is no other fault and none of its pods has failed.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    /** When the last creation or deletion of its pods was refused, by the Job's UID. */
    const refusedMs = { create: new Map<string, number>(), delete: new Map<string, number>() };
    const lasting = new Set<number>();
    /** A controller without a response may have crashed, and is down until its restart. */
    const awayMs = Math.max(0, ...(world.plan.events ?? []).map(restartMs));
    let disturbedMs = -Infinity;
    return {
      onScenarioEvent({ index, phase, kind, atMs }) {
        disturbedMs = Math.max(disturbedMs, atMs + restartMs(world.plan.events?.[index]));
        // A fault at a single request is over with that request, and a suspension is no fault.
        if (kind === "requestFails" || kind === "controllerCrashes" || kind === "suspend") return;
        if (phase === "begin" && world.plan.events?.[index]?.for !== undefined) lasting.add(index);
        else lasting.delete(index);
      },
      onAnswer(request) {
        if (request.component !== JOB_CONTROLLER) return;
        if (request.atMs - request.sentMs >= SLOW_REQUEST_MS) disturbedMs = Math.max(disturbedMs, request.atMs);
        if (request.code === 0) disturbedMs = Math.max(disturbedMs, request.atMs + awayMs);
        const isRefused = request.code < 200 || request.code > 299;
        const { verb } = request;
        const owner = request.resource === PODS ? jobOf(request, records) : undefined;
        // Any other failure delays the retry.
        if (isRefused && verb !== "create")
          for (const waiting of Object.values(refusedMs))
            for (const uid of waiting.keys()) {
              const { namespace, name } = records.jobs.get(uid)?.object.metadata ?? {};
              if (namespace === request.namespace && (request.resource !== JOBS || name === request.name))
                waiting.set(uid, request.atMs);
            }
        if (owner === undefined || (verb !== "create" && verb !== "delete")) return;
        if (isRefused) refusedMs[verb].set(owner, request.atMs);
        else refusedMs[verb].delete(owner);
      },
      onChange(change) {
        const { resource, object } = change;
        // A later change is handled first.
        const uid = resource === JOBS ? uidOf(object) : records.pods.get(uidOf(object))?.job?.uid;
        for (const waiting of Object.values(refusedMs))
          if (uid !== undefined && waiting.has(uid)) waiting.set(uid, change.atMs);
      },
      onTick() {
        if (lasting.size > 0) return;
        for (const verb of ["create", "delete"] as const)
          for (const [uid, sinceMs] of refusedMs[verb]) {
            const waitedMs = world.nowMs - Math.max(sinceMs, disturbedMs);
            if (waitedMs <= RETRY_MS) continue;
            refusedMs[verb].delete(uid);
            const job = records.jobs.get(uid);
            if (job === undefined || !(verb === "create" ? wantsMore(job) : wantsFewer(job))) continue;
            violated(nameOf(job.object, "Job"), `has waited ${waitedMs / 1000} s to try again to ${verb} its pods`);
          }
      },
    };
  },
};

/** Returns how long an event delays the restart of a controller that it kills. */
function restartMs(scenarioEvent: ScenarioEventEntry | undefined): number {
  return durationOf(scenarioEvent?.controllerCrashes?.restartAfter ?? "0s");
}

/** Returns the UID of the Job that a pod request of the controller concerns. */
function jobOf({ verb, namespace, name, body }: AnsweredRequest, records: JobRecords): string | undefined {
  if (verb === "create") return body === undefined ? undefined : ownerOfKind(body as Stored, "Job")?.uid;
  return records.podsByName.get(`${namespace}/${name}`)?.job?.uid;
}

/** Reports whether a Job has more active pods than wanted: none are wanted while it is suspended or ends. */
function wantsFewer(job: JobRecord): boolean {
  const { spec, status } = job.object;
  if (job.gone || spec === undefined || isBeingDeleted(job.object) || isManagedElsewhere(job)) return false;
  if (job.finishedMs !== undefined) return false;
  const ends = ["FailureTarget", "SuccessCriteriaMet"].some((type) => isConditionTrue(status?.conditions, type));
  return activePods(job).length > (ends || spec.suspend === true ? 0 : (spec.parallelism ?? 1));
}

/** Reports whether a Job without failures lacks pods. */
function wantsMore(job: JobRecord): boolean {
  const { spec, status } = job.object;
  if (job.gone || spec === undefined || spec.suspend === true || isBeingDeleted(job.object)) return false;
  if (status?.conditions?.some(({ type, status: holds }) => type !== "Suspended" && holds === "True") === true)
    return false;
  if (job.allPods.some(({ everFailed, everTerminating }) => everFailed || everTerminating)) return false;
  if ((status?.failed ?? 0) > 0 || (status?.failedIndexes ?? "") !== "") return false;
  const succeeded = job.allPods.filter(({ everSucceeded }) => everSucceeded).length;
  const wanted = wantedPods(spec, succeeded);
  return wanted !== undefined && activePods(job).length < wanted;
}
