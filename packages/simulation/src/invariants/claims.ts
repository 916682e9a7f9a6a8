import { type LabelMatcher, getControllerOf, labelSelectorMatcher } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import { definitionOf } from "../faults/registry.js";
import { durationOf } from "../scenario/scenario-times.js";
import type { StoredChange } from "../world.js";
import { type JobRecord, jobRecordsOf } from "./job-records.js";
import { type StoredPod, isActive, isTracked } from "./job-state.js";
import { LONGEST_REQUEST_MS } from "./longest-request.js";
import { JOBS, JOB_CONTROLLER, PODS, isBeingDeleted, nameOf, ownerOfKind, uidOf } from "./stored-objects.js";

/** Much longer than a sync waits for further events, and takes, without obstacles. */
const CLAIMED_MS = 30_000;
/** The longest time from a fault to the end of the next retry. */
const RECOVERED_MS = 65_000 + LONGEST_REQUEST_MS;

/** User actions, from which nothing has to recover. */
const HARMLESS: ReadonlySet<string> = new Set(["apply", "delete", "patch", "suspend", "resume"]);

interface Waiting {
  readonly pod: StoredPod;
  readonly sinceMs: number;
}

/** Upstream: pkg/controller/job/job_controller.go addPod, updatePod, getPodsForJob, trackJobStatusAndRemoveFinalizers. */
export const podsAreClaimed: Invariant = {
  name: "L12 pods are claimed",
  sentence:
    "Within 30 s without other faults, an unfinished Job adopts an active pod that it selects and that has no controller, and " +
    "releases a pod, ended or not, that it does not select; the pods of a Job that is being deleted lose the tracking finalizer.",
  watch(world, violated): InvariantChecks {
    // The new owner of a bucket first syncs all its Jobs.
    if (world.plan.controllers?.sharding === true) return {};
    const records = jobRecordsOf(world);
    const waitsMs = CLAIMED_MS + 2 * durationOf(world.plan.jitter?.events ?? "0s");
    const matchers = new Map<string, LabelMatcher>();
    const waiting = new Map<string, Waiting>();
    /** When each Job was created, and when its deletion began or it last changed since. */
    const createdMs = new Map<string, number>();
    const goingMs = new Map<string, number>();
    const lasting = new Set<number>();
    let disturbedMs = -Infinity;

    const selects = ({ uid, object }: JobRecord, pod: StoredPod): boolean => {
      let matches = matchers.get(uid);
      if (matches === undefined) matchers.set(uid, (matches = labelSelectorMatcher(object.spec?.selector)));
      return object.metadata.namespace === pod.metadata.namespace && matches(pod.metadata.labels);
    };
    const awaitsClaim = (pod: StoredPod): boolean => {
      if (getControllerOf(pod) === undefined) return isActive(pod);
      const job = records.jobs.get(ownerOfKind(pod, "Job")?.uid ?? "");
      return job !== undefined && !selects(job, pod);
    };
    const onPod = ({ type, object, previous, atMs }: StoredChange): void => {
      const uid = uidOf(object);
      if (type === "DELETED" || !awaitsClaim(object)) waiting.delete(uid);
      else {
        const known = hasSameOwnership(object, previous) ? waiting.get(uid)?.sinceMs : undefined;
        waiting.set(uid, { pod: object, sinceMs: known ?? atMs });
      }
    };

    return {
      onScenarioEvent({ index, phase, kind, atMs }) {
        if (HARMLESS.has(kind)) return;
        const restartAfter = world.plan.events?.[index]?.controllerCrashes?.restartAfter ?? "0s";
        disturbedMs = Math.max(disturbedMs, atMs + durationOf(restartAfter));
        if (phase === "begin" && definitionOf(kind).lasts !== undefined) lasting.add(index);
        else lasting.delete(index);
      },
      onAnswer(request) {
        if (request.component !== JOB_CONTROLLER || request.verb === "create") return;
        if (request.code < 200 || request.code > 299) disturbedMs = Math.max(disturbedMs, request.atMs);
      },
      onChange(change) {
        if (change.resource === PODS) onPod(change);
        if (change.resource !== JOBS) return;
        const uid = uidOf(change.object);
        if (change.type === "ADDED") createdMs.set(uid, change.atMs);
        if (change.type === "DELETED") goingMs.delete(uid);
        // The controller may be busy with other pods of the Job for that long.
        else if (isBeingDeleted(change.object)) goingMs.set(uid, change.atMs);
      },
      onTick() {
        if (lasting.size > 0 || (waiting.size === 0 && goingMs.size === 0)) return;
        const dueMs = world.nowMs - waitsMs;
        if (disturbedMs + RECOVERED_MS > dueMs) return;
        for (const [uid, { pod, sinceMs }] of waiting) {
          if (sinceMs > dueMs) continue;
          const ownerUid = ownerOfKind(pod, "Job")?.uid;
          const owner = ownerUid === undefined ? undefined : records.jobs.get(ownerUid);
          if (owner !== undefined) {
            if (isOngoing(owner))
              report(pod, `is not released by ${nameOf(owner.object, "Job")}, which does not select it`);
            continue;
          }
          for (const job of records.jobs.values()) {
            if (!isOngoing(job) || (createdMs.get(job.uid) ?? Infinity) > dueMs || !selects(job, pod)) continue;
            report(pod, `has no controller, and ${nameOf(job.object, "Job")} that selects it does not adopt it`);
            waiting.delete(uid);
            break;
          }
        }
        for (const [uid, sinceMs] of goingMs) {
          const job = records.jobs.get(uid);
          if (sinceMs > dueMs || job === undefined || job.gone || job.externallyModified || isManagedElsewhere(job))
            continue;
          for (const pod of job.livePods.values())
            if (isTracked(pod.object) && pod.createdMs <= dueMs && selects(job, pod.object))
              report(pod.object, `keeps the tracking finalizer, and its ${nameOf(job.object, "Job")} is being deleted`);
        }
      },
    };

    function report(pod: StoredPod, message: string): void {
      violated(nameOf(pod, "Pod"), message);
    }
  },
};

function hasSameOwnership({ metadata }: StoredPod, before: StoredPod | undefined): boolean {
  const of = ({ labels, ownerReferences }: StoredPod["metadata"]): string => JSON.stringify([labels, ownerReferences]);
  return before !== undefined && of(metadata) === of(before.metadata);
}

function isOngoing(job: JobRecord): boolean {
  return !job.gone && job.finishedMs === undefined && !isBeingDeleted(job.object) && !isManagedElsewhere(job);
}

function isManagedElsewhere({ object }: JobRecord): boolean {
  const managedBy = object.spec?.managedBy;
  return managedBy != null && managedBy !== "kubernetes.io/job-controller";
}
