import { finishedCondition, isConditionTrue, parseTime } from "@kubewright/api";

import type { AnsweredRequest, CacheEvent, RequestInfo, StoredChange, World } from "../world.js";
import {
  type StoredJob,
  type StoredJobSpec,
  type StoredPod,
  endedMs,
  hasEnded,
  hasFailed,
  hasSucceeded,
  indexOf,
  isActive,
  isTerminating,
  isTracked,
  policyAction,
} from "./job-state.js";
import { JOBS, JOB_CONTROLLER, PODS, isFromUser, incarnationKeyOf, ownerOfKind, uidOf } from "./stored-objects.js";

/** Creations that no cache shows after this time are given up. Upstream: pkg/controller/controller_utils.go ExpectationsTimeout. */
const EXPECTATIONS_MS = 300_000;
/** Longer than a sync takes between looking at its cache and sending its last request. */
const SYNC_MS = 120_000;

/** What is known of one Job, whether it is stored any more or not. */
export interface JobRecord {
  readonly uid: string;
  /** As it is stored, or was last. */
  object: StoredJob;
  gone: boolean;
  /** Every spec it has had, oldest first. */
  readonly specs: StoredJobSpec[];
  generation: number | undefined;
  /** Somebody from outside has changed what its pods say about themselves: their counts are anybody's guess. */
  externallyModified: boolean;
  finishedMs?: number;
  /** Its success is decided: `SuccessCriteriaMet` is stored. */
  succeeds: boolean;
  /** The life of the component that has written its end. */
  finishedBy?: string;
  /** Whoever has written its end does not know: the answer was lost. */
  endUnanswered: boolean;
  /** Those lives of the Job controller whose caches have shown that it has finished. */
  readonly endShownTo: Set<string>;
  /** The earliest `status.startTime` it has had. */
  startMs?: number;
  /** Those that are stored, by UID. */
  readonly livePods: Map<string, PodRecord>;
  /** All that it has ever had. */
  readonly allPods: PodRecord[];
}

/** What is known of one pod that a Job owns, or has owned. */
export interface PodRecord {
  readonly uid: string;
  object: StoredPod;
  job: JobRecord | undefined;
  gone: boolean;
  everSucceeded: boolean;
  everFailed: boolean;
  everTerminating: boolean;
  /** What the policy of its Job has said of it since it has failed: the actions of the rules that it has matched. */
  readonly failedAs: Set<string | undefined>;
  /** It was being deleted when it had not ended: a failure, if not only pods that have failed are replaced. */
  everCutShort: boolean;
  /** When it ended, to whoever has read it then or later: the earliest. Infinity for one that has not. */
  endedMs: number;
  /** It has changed its phase after it ended: exception X3. */
  flipped: boolean;
  /** It has been another Job's, or nobody's, since it was a Job's first. */
  moved: boolean;
  readonly createdMs: number;
  /** The life of the Job controller that created it; `undefined` when somebody else did. */
  readonly createdBy: string | undefined;
  /** Whoever created it does not know: the answer was lost. Exception X4. */
  answerLost: boolean;
  /** When the caches of the Job controller's lives first showed it, by life. */
  readonly shownMs: Map<string, number>;
  /** Those lives whose caches have shown it when nobody had asked to delete it. */
  readonly creationShownTo: Set<string>;
  /** Those lives whose caches have shown that it ended. */
  readonly shownEndedTo: Set<string>;
}

/** Follows Jobs and their pods: what they were, and what the Job controller was told of them. One for all checks of a run. */
export class JobRecords {
  readonly jobs = new Map<string, JobRecord>();
  readonly pods = new Map<string, PodRecord>();
  /** By namespace and name, whoever had it last. */
  readonly podsByName = new Map<string, PodRecord>();
  readonly #world: World;
  /** Creations of one Job, and instant, whose answers are under way. */
  readonly #unanswered = new Map<string, { readonly pod: PodRecord; readonly body: unknown }[]>();

  constructor(world: World) {
    this.#world = world;
  }

  onChange(change: StoredChange): void {
    if (change.resource === PODS) this.#podChanged(change);
    else if (change.resource === JOBS) this.#jobChanged(change);
  }

  onAnswer(request: AnsweredRequest): void {
    if (request.component !== JOB_CONTROLLER) return;
    if (request.resource === JOBS) this.#endAnswered(request);
    if (request.resource !== PODS || request.verb !== "create") return;
    const waiting = this.#unanswered.get(creationKey(request));
    if (waiting === undefined) return;
    const [created] = waiting.splice(
      Math.max(
        0,
        waiting.findIndex(({ body }) => body === request.body),
      ),
      1,
    );
    if (created !== undefined && (request.code < 200 || request.code > 299)) created.pod.answerLost = true;
  }

  onCacheEvent(event: CacheEvent): void {
    if (event.component !== JOB_CONTROLLER) return;
    if (event.resource === JOBS && finishedCondition(event.object as StoredJob) !== undefined)
      this.jobs.get(uidOf(event.object))?.endShownTo.add(incarnationKeyOf(event));
    if (event.resource !== PODS) return;
    const pod = this.pods.get(uidOf(event.object));
    if (pod === undefined) return;
    const incarnationKey = incarnationKeyOf(event);
    if (!pod.shownMs.has(incarnationKey)) pod.shownMs.set(incarnationKey, event.atMs);
    if (event.object.metadata.deletionTimestamp == null) pod.creationShownTo.add(incarnationKey);
    if (hasEnded(event.object)) pod.shownEndedTo.add(incarnationKey);
  }

  /**
   * Whether the Job controller could not know of a pod when it decided on a request: its cache has not shown the pod, and
   * neither has it made the pod itself and been told so, less than five minutes ago. Exceptions X4 and X9.
   */
  isHiddenFrom(pod: PodRecord, request: RequestInfo): boolean {
    if (this.isShownTo(pod, request)) return false;
    const incarnationKey = incarnationKeyOf(request);
    if (pod.createdBy !== incarnationKey || pod.answerLost) return true;
    return (
      (pod.shownMs.get(incarnationKey) ?? request.sentMs) - pod.createdMs >= EXPECTATIONS_MS ||
      isMistakenForAnother(pod, incarnationKey)
    );
  }

  /** Whether the cache of the Job controller has shown a pod long enough for the sync that a request is of to have seen it. */
  isShownTo(pod: PodRecord, request: RequestInfo): boolean {
    const shownMs = pod.shownMs.get(incarnationKeyOf(request));
    return shownMs !== undefined && shownMs <= request.sentMs - SYNC_MS;
  }

  /** Whether the Job controller could not know that a Job has finished: it was not told that its write took effect, nor shown it. */
  isEndHiddenFrom(job: JobRecord, request: RequestInfo): boolean {
    const incarnationKey = incarnationKeyOf(request);
    return job.endUnanswered && job.finishedBy === incarnationKey && !job.endShownTo.has(incarnationKey);
  }

  #endAnswered(request: AnsweredRequest): void {
    const { namespace, name, sentMs, atMs, tookEffect, code } = request;
    if (!tookEffect || (code >= 200 && code <= 299)) return;
    const uid = uidOf(this.#world.get(JOBS, namespace, name) ?? { metadata: {} });
    const job = this.jobs.get(uid);
    const finishedMs = job?.finishedMs ?? Infinity;
    if (job !== undefined && job.finishedBy === incarnationKeyOf(request) && finishedMs >= sentMs && finishedMs <= atMs)
      job.endUnanswered = true;
  }

  #jobChanged({ type, object, request, atMs }: StoredChange): void {
    const job = object as StoredJob;
    const uid = uidOf(job);
    let record = this.jobs.get(uid);
    if (record === undefined) {
      record = {
        uid,
        object: job,
        gone: false,
        specs: [],
        generation: undefined,
        externallyModified: false,
        succeeds: false,
        endUnanswered: false,
        endShownTo: new Set(),
        livePods: new Map(),
        allPods: [],
      };
      this.jobs.set(uid, record);
    }
    record.object = job;
    record.gone = type === "DELETED";
    record.succeeds ||= isConditionTrue(job.status?.conditions, "SuccessCriteriaMet");
    const { generation } = job.metadata;
    if (job.spec !== undefined && (record.specs.length === 0 || generation !== record.generation)) {
      record.specs.push(job.spec);
      record.generation = generation;
    }
    const startMs = parseTime(job.status?.startTime);
    if (startMs !== undefined && !(record.startMs !== undefined && record.startMs <= startMs)) record.startMs = startMs;
    if (record.finishedMs === undefined && finishedCondition(job) !== undefined) {
      record.finishedMs = atMs;
      if (request !== undefined) record.finishedBy = incarnationKeyOf(request);
    }
  }

  #podChanged({ type, object, previous, request, atMs }: StoredChange): void {
    const pod = object as StoredPod;
    const uid = uidOf(pod);
    let record = this.pods.get(uid);
    const ownerUid = ownerOfKind(pod, "Job")?.uid;
    if (record === undefined) {
      if (ownerUid === undefined) return;
      const isCreated = type === "ADDED" && request?.component === JOB_CONTROLLER;
      record = {
        uid,
        object: pod,
        job: undefined,
        gone: false,
        everSucceeded: false,
        everFailed: false,
        everTerminating: false,
        failedAs: new Set(),
        everCutShort: false,
        endedMs: Infinity,
        flipped: false,
        moved: false,
        createdMs: atMs,
        createdBy: isCreated ? incarnationKeyOf(request) : undefined,
        answerLost: false,
        shownMs: new Map(),
        creationShownTo: new Set(),
        shownEndedTo: new Set(),
      };
      this.pods.set(uid, record);
      this.podsByName.set(`${pod.metadata.namespace}/${pod.metadata.name}`, record);
      if (isCreated) {
        const key = creationKey(request);
        const creation = { pod: record, body: request.body };
        const waiting = this.#unanswered.get(key);
        if (waiting === undefined) this.#unanswered.set(key, [creation]);
        else waiting.push(creation);
      }
    }
    const job = ownerUid === undefined ? undefined : this.jobs.get(ownerUid);
    if (previous !== undefined && type === "MODIFIED" && isFromUser(request) && isExternalModification(previous, pod)) {
      if (record.job !== undefined) record.job.externallyModified = true;
      if (job !== undefined) job.externallyModified = true;
    }
    if (record.job !== job) {
      record.moved ||= record.job !== undefined;
      record.job?.livePods.delete(uid);
      record.job = job;
      job?.allPods.push(record);
    }
    if (previous !== undefined && hasEnded(previous) && phaseOf(previous) !== phaseOf(pod)) record.flipped = true;
    record.object = pod;
    record.gone = type === "DELETED";
    record.everSucceeded ||= hasSucceeded(pod);
    record.everFailed ||= hasFailed(pod);
    record.everCutShort ||= isTerminating(pod);
    record.everTerminating ||= pod.metadata.deletionTimestamp != null || type === "DELETED";
    if (record.everFailed || record.everTerminating) record.endedMs = Math.min(record.endedMs, endedMs(pod));
    if (job === undefined) return;
    if (hasFailed(pod)) record.failedAs.add(policyAction(job.object.spec?.podFailurePolicy, pod));
    if (record.gone) job.livePods.delete(uid);
    else job.livePods.set(uid, record);
  }

  /**
   * Whether in this run a controller that has just been started may be answered with a past that another life of it has
   * already moved on from. Then even upstream counts wrong: exception X7.
   */
  get mayReadStaleState(): boolean {
    return mayReadStaleState(this.#world);
  }
}

const makeJobRecords = (world: World): JobRecords => new JobRecords(world);

/** The one of a run. */
export function jobRecordsOf(world: World): JobRecords {
  return world.shared(makeJobRecords);
}

/** See {@link JobRecords.mayReadStaleState}. */
export function mayReadStaleState({ plan }: World): boolean {
  const events = plan.events ?? [];
  // Caches of buckets begin with the latest there is.
  if (plan.controllers?.sharding === true) return false;
  return (
    events.some(({ staleList }) => staleList !== undefined) &&
    events.some(
      ({ controllerCrashes, controllerDown, leaseLost, paused }) =>
        controllerCrashes !== undefined ||
        controllerDown !== undefined ||
        leaseLost !== undefined ||
        (paused !== undefined && (plan.controllerManagers ?? 1) > 1),
    )
  );
}

/**
 * Whether another pod was taken for this one, which was waited for: expectations are a number, and one that nobody waits for any
 * more, or that was never told of, lowers it when it is shown at last. Upstream: controller_utils.go CreationObserved.
 */
function isMistakenForAnother(pod: PodRecord, incarnationKey: string): boolean {
  const shownMs = pod.shownMs.get(incarnationKey) ?? Number.POSITIVE_INFINITY;
  const isTakenForIt = (other: PodRecord): boolean => {
    const lateMs = other.shownMs.get(incarnationKey);
    if (other === pod || lateMs === undefined || lateMs < pod.createdMs || lateMs > shownMs) return false;
    return other.createdBy !== incarnationKey || other.answerLost || lateMs - other.createdMs >= EXPECTATIONS_MS;
  };
  return pod.job?.allPods.some(isTakenForIt) ?? false;
}

/** Whether the controller that has made a pod has never seen it come: it was gone by then, or was being deleted. */
export function isCreationMissed({ createdBy, answerLost, creationShownTo }: PodRecord): boolean {
  return createdBy !== undefined && !answerLost && !creationShownTo.has(createdBy);
}

/** Whether somebody else has made a pod that is gone: who was not shown its adoption before cannot tell which Job has lost it. */
export function isAdoptedAndGone({ createdBy, gone }: PodRecord): boolean {
  return gone && createdBy === undefined;
}

/** Whether a failure does not count, whenever it was looked at. */
export function isIgnored({ failedAs }: PodRecord): boolean {
  return failedAs.size === 1 && failedAs.has("Ignore");
}

/** Pods of a Job that are active in the store. */
export function activePods(job: JobRecord): PodRecord[] {
  return [...job.livePods.values()].filter(({ object }) => isActive(object));
}

function creationKey(request: RequestInfo): string {
  const body = request.body as StoredPod | undefined;
  return `${incarnationKeyOf(request)} ${request.sentMs} ${body?.metadata.ownerReferences?.[0]?.uid}`;
}

function phaseOf({ status }: StoredPod): string | undefined {
  return status?.phase;
}

/** Whether what a Job goes by has changed: owner, finalizer, index, labels. */
function isExternalModification(before: StoredPod, after: StoredPod): boolean {
  return (
    isTracked(before) !== isTracked(after) ||
    indexOf(before) !== indexOf(after) ||
    ownerOfKind(before, "Job")?.uid !== ownerOfKind(after, "Job")?.uid ||
    JSON.stringify(before.metadata.labels) !== JSON.stringify(after.metadata.labels)
  );
}
