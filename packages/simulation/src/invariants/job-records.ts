import { finishedCondition, isConditionTrue, parseTime } from "@kubewright/api";

import type { FaultPlan } from "../fault-plan.js";
import { effectsOf } from "../faults/registry.js";
import type { AnsweredRequest, CacheEvent, ObservedRequest, StoredChange, World } from "../world.js";
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

/**
 * After this time, expectations of creations that no cache shows expire. Upstream: pkg/controller/controller_utils.go
 * ExpectationsTimeout.
 */
const EXPECTATIONS_MS = 300_000;
/** Longer than a sync takes from its cache read to its last request. */
const SYNC_MS = 120_000;

/** Record of a Job, stored or deleted. */
export interface JobRecord {
  readonly uid: string;
  /** The stored version, or the last one. */
  object: StoredJob;
  gone: boolean;
  /** Every spec that it has had, oldest first. */
  readonly specs: StoredJobSpec[];
  generation: number | undefined;
  /** Whether a user has changed fields of its pods that the controller counts by: then the counts are undefined. */
  externallyModified: boolean;
  finishedMs?: number;
  /** Whether its success is decided: `SuccessCriteriaMet` is stored. */
  succeeds: boolean;
  /** Incarnation of the component that wrote its end. */
  finishedBy?: string;
  /** Whether the writer of its end does not know that: the response was lost. */
  endUnanswered: boolean;
  /** Incarnations of the Job controller whose caches have shown its end. */
  readonly endShownTo: Set<string>;
  /** The earliest `status.startTime` that it has had. */
  startMs?: number;
  /** Its stored pods, by UID. */
  readonly livePods: Map<string, PodRecord>;
  /** All pods that it has ever had. */
  readonly allPods: PodRecord[];
}

/** Record of a pod that a Job owns or has owned. */
export interface PodRecord {
  readonly uid: string;
  object: StoredPod;
  job: JobRecord | undefined;
  gone: boolean;
  everSucceeded: boolean;
  everFailed: boolean;
  everTerminating: boolean;
  /** Actions of the failure policy rules that the pod has matched since it failed. */
  readonly failedAs: Set<string | undefined>;
  /** Whether it was deleted before it ended: a failure, unless the Job replaces only failed pods. */
  everCutShort: boolean;
  /** The earliest end that any read has shown; Infinity for a pod that has not ended. */
  endedMs: number;
  /** Whether its phase changed after it ended: exception X3. */
  flipped: boolean;
  /** Whether it has belonged to another Job, or to none, since a Job first owned it. */
  moved: boolean;
  readonly createdMs: number;
  /** Incarnation of the Job controller that created it; `undefined` for other creators. */
  readonly createdBy: string | undefined;
  /** Whether the response to its creation was lost, so that its creator does not know of it: exception X4. */
  answerLost: boolean;
  /** When the caches of each incarnation of the Job controller first showed it. */
  readonly shownMs: Map<string, number>;
  /** Incarnations whose caches have shown it before its deletion was requested. */
  readonly creationShownTo: Set<string>;
  /** Incarnations whose caches have shown its end. */
  readonly shownEndedTo: Set<string>;
}

/** Records Jobs and their pods, and what the Job controller received of them. Shared by all checks of a run. */
export class JobRecords {
  readonly jobs = new Map<string, JobRecord>();
  readonly pods = new Map<string, PodRecord>();
  /** Last pod of each namespace and name. */
  readonly podsByName = new Map<string, PodRecord>();
  /**
   * Whether a restarted controller may read a state that is older than its predecessor's last write. Then even upstream
   * miscounts: exception X7.
   */
  readonly mayReadStaleState: boolean;
  readonly #world: World;
  /** Creations whose responses are pending, by Job and instant. */
  readonly #unanswered = new Map<string, { readonly pod: PodRecord; readonly body: unknown }[]>();

  constructor(world: World) {
    this.#world = world;
    this.mayReadStaleState = mayReadStaleState(world.plan);
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
   * Reports whether the Job controller could not know of a pod when it sent a request. Its cache has not shown the pod,
   * and it did not create the pod itself, with a successful response, within the last five minutes. Exceptions X4 and
   * X9.
   */
  isHiddenFrom(pod: PodRecord, request: ObservedRequest): boolean {
    if (this.isShownTo(pod, request)) return false;
    const incarnationKey = incarnationKeyOf(request);
    if (pod.createdBy !== incarnationKey || pod.answerLost) return true;
    return (
      (pod.shownMs.get(incarnationKey) ?? request.sentMs) - pod.createdMs >= EXPECTATIONS_MS ||
      isMistakenForAnother(pod, incarnationKey)
    );
  }

  /**
   * Reports whether the Job controller's cache showed a pod long enough before a request that the request's sync has
   * observed the pod.
   */
  isShownTo(pod: PodRecord, request: ObservedRequest): boolean {
    const shownMs = pod.shownMs.get(incarnationKeyOf(request));
    return shownMs !== undefined && shownMs <= request.sentMs - SYNC_MS;
  }

  /**
   * Reports whether the Job controller could not know that a Job has finished: the response to its write was lost, and
   * its cache has not shown the end.
   */
  isEndHiddenFrom(job: JobRecord, request: ObservedRequest): boolean {
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
}

const makeJobRecords = (world: World): JobRecords => new JobRecords(world);

/** Returns the records of a run. */
export function jobRecordsOf(world: World): JobRecords {
  return world.shared(makeJobRecords);
}

function mayReadStaleState({ events = [], controllers, controllerManagers = 1 }: FaultPlan): boolean {
  // Caches of buckets begin with the latest version.
  if (controllers?.sharding === true) return false;
  // No other manager takes over from a single one that is paused.
  const effects = effectsOf(events.filter(({ paused }) => paused === undefined || controllerManagers > 1));
  return effects.has("returnsOldLists") && effects.has("restarts");
}

/**
 * Reports whether another pod satisfied this pod's expectation. Expectations are a number: a pod that is no longer
 * expected, or whose creation response was lost, lowers it when its event arrives. Upstream: controller_utils.go
 * CreationObserved.
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

/** Reports whether the pod's creator never observed the creation: the pod was deleted, or being deleted, by then. */
export function isCreationMissed({ createdBy, answerLost, creationShownTo }: PodRecord): boolean {
  return createdBy !== undefined && !answerLost && !creationShownTo.has(createdBy);
}

/**
 * Reports whether a deleted pod was created by another client: a controller whose cache did not show the adoption does
 * not know which Job has lost it.
 */
export function isAdoptedAndGone({ createdBy, gone }: PodRecord): boolean {
  return gone && createdBy === undefined;
}

/** Reports whether the policy ignores the failure, at every time it was evaluated. */
export function isIgnored({ failedAs }: PodRecord): boolean {
  return failedAs.size === 1 && failedAs.has("Ignore");
}

/** Returns the Job's pods that are active in the store. */
export function activePods(job: JobRecord): PodRecord[] {
  return [...job.livePods.values()].filter(({ object }) => isActive(object));
}

function creationKey(request: ObservedRequest): string {
  const body = request.body as StoredPod | undefined;
  return `${incarnationKeyOf(request)} ${request.sentMs} ${body?.metadata.ownerReferences?.[0]?.uid}`;
}

function phaseOf({ status }: StoredPod): string | undefined {
  return status?.phase;
}

/** Reports whether a change affects what a Job counts by: owner, finalizer, index, labels. */
function isExternalModification(before: StoredPod, after: StoredPod): boolean {
  return (
    isTracked(before) !== isTracked(after) ||
    indexOf(before) !== indexOf(after) ||
    ownerOfKind(before, "Job")?.uid !== ownerOfKind(after, "Job")?.uid ||
    JSON.stringify(before.metadata.labels) !== JSON.stringify(after.metadata.labels)
  );
}
