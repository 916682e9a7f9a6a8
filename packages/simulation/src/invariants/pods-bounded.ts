import type { Invariant, InvariantChecks, Violated } from "../invariant.js";
import type { CacheEvent, ObservedRequest, StoredChange } from "../world.js";
import { type JobRecords, type JobRecord, type PodRecord, jobRecordsOf } from "./job-records.js";
import { type StoredJob, type StoredJobSpec, isActive } from "./job-state.js";
import { JOBS, JOB_CONTROLLER, PODS, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Longer than a sync takes from its read of the Job to its last request. */
const SYNC_MS = 120_000;

/** Upstream: pkg/controller/job/job_controller.go manageJob, with its expectations. */
export const boundedPods: Invariant = {
  name: "S5 bounded pods",
  sentence:
    "No more pods of a Job are active at a time than its largest parallelism, and none is created once as many " +
    "have failed as its limit allows, except for pods that the creating controller cannot know about.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const actives = new Map<string, number>();
    /** The Job for which each pod currently counts, by the pod's UID. */
    const counted = new Map<string, JobRecord>();
    const exhausted = new ExhaustedLimits();
    return {
      onCacheEvent: (event) => exhausted.onCacheEvent(event),
      onChange(change) {
        if (change.resource !== PODS) return;
        const uid = uidOf(change.object);
        const before = counted.get(uid);
        const job = countedFor(records.pods.get(uid));
        if (before !== job) {
          if (before !== undefined) actives.set(before.uid, (actives.get(before.uid) ?? 0) - 1);
          if (job !== undefined) actives.set(job.uid, (actives.get(job.uid) ?? 0) + 1);
          if (job === undefined) counted.delete(uid);
          else counted.set(uid, job);
        }
        const { request } = change;
        if (change.type !== "ADDED" || request?.component !== JOB_CONTROLLER || records.mayReadStaleState) return;
        const owner = records.pods.get(uid)?.job;
        if (owner === undefined) return;
        checkActive(owner, actives.get(owner.uid) ?? 0, request, records, violated);
        exhausted.check(owner, change, violated);
      },
    };
  },
};

/** Returns the Job for whose parallelism a pod counts: the pod is active and the Job controller created it. */
function countedFor(pod: PodRecord | undefined): JobRecord | undefined {
  if (pod === undefined || pod.gone || pod.createdBy === undefined || pod.flipped) return undefined;
  return isActive(pod.object) ? pod.job : undefined;
}

function checkActive(
  job: JobRecord,
  active: number,
  request: ObservedRequest,
  records: JobRecords,
  violated: Violated,
): void {
  const max = Math.max(...job.specs.map(({ parallelism }) => parallelism ?? 1));
  if (active <= max || job.externallyModified) return;
  let hidden = 0;
  for (const pod of job.livePods.values())
    if (isActive(pod.object) && pod.createdBy !== undefined && records.isHiddenFrom(pod, request)) hidden++;
  if (active - hidden > max)
    violated(nameOf(job.object, "Job"), `has ${active} active pods, and its parallelism is ${max}`);
}

/** Since when each incarnation of the Job controller has had a Job in its cache that exceeds its limit of failures. */
class ExhaustedLimits {
  readonly #sinceMs = new Map<string, number>();

  onCacheEvent(event: CacheEvent): void {
    if (event.component !== JOB_CONTROLLER || event.resource !== JOBS) return;
    const key = `${incarnationKeyOf(event)} ${uidOf(event.object)}`;
    if (event.type === "delete" || !isExhausted(event.object)) this.#sinceMs.delete(key);
    else if (!this.#sinceMs.has(key)) this.#sinceMs.set(key, event.atMs);
  }

  check({ object }: JobRecord, { request }: StoredChange, violated: Violated): void {
    const sinceMs = this.#sinceMs.get(`${incarnationKeyOf(request!)} ${uidOf(object)}`);
    if (sinceMs === undefined || sinceMs > request!.sentMs - SYNC_MS) return;
    violated(
      nameOf(object, "Job"),
      `gets another pod after ${failedPods(object)} of them have failed, and backoffLimit is ${limitOf(object.spec!)}`,
    );
  }
}

function isExhausted(job: StoredJob): boolean {
  return job.spec !== undefined && failedPods(job) > limitOf(job.spec);
}

function failedPods({ status }: StoredJob): number {
  return (status?.failed ?? 0) + (status?.uncountedTerminatedPods?.failed?.length ?? 0);
}

function limitOf({ backoffLimit, backoffLimitPerIndex }: StoredJobSpec): number {
  return backoffLimit ?? (backoffLimitPerIndex == null ? 6 : 2 ** 31 - 1);
}
