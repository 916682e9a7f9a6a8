import {
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  type CronJob,
  type DeepReadonly,
  type Job,
  type KubernetesObject,
  type ObjectReference,
  isJobFinished,
  keyOf,
  parseTime,
} from "@kubewright/api";

import type {
  AnsweredRequest,
  CacheEvent,
  ObservedRequest,
  Stored,
  StoredChange,
  ReportedDecision,
  World,
} from "../world.js";
import { LONGEST_REQUEST_MS } from "./longest-request.js";
import { CRON_JOBS, CRON_JOB_CONTROLLER, JOBS, incarnationKeyOf, ownerOfKind, uidOf } from "./stored-objects.js";

export type StoredCronJob = Stored<KubernetesObject & Partial<Pick<CronJob, "spec" | "status">>>;
export type CronJobSpec = NonNullable<DeepReadonly<CronJob>["spec"]>;

export interface CronJobRecord {
  readonly uid: string;
  object: StoredCronJob;
  gone: boolean;
  /** Every spec that it has had, oldest first. */
  readonly specs: CronJobSpec[];
  /** Generation of each spec. */
  readonly generations: (number | undefined)[];
  /** When its spec last changed; initially its creation. */
  editedMs: number;
  /** When one of its listed Jobs was last active. */
  activeMs: number;
  /** When a request for it or its Jobs was last refused, or its response lost. */
  refusedMs: number;
  /** End of its controller's back-off after consecutive refusals. */
  backsOffUntilMs: number;
  refusals: number;
  /** Whether its last sync reported a failure. */
  hasFailed: boolean;
  /**
   * Like {@link refusedMs}, without refused creations of Jobs: the controller deletes old Jobs before it creates one.
   */
  hinderedMs: number;
  /** Names of the next Job that a foreign Job had. */
  readonly foreignNames: Set<string>;
  /** Its Jobs by UID, including deleted ones. */
  readonly jobs: Map<string, CronJobRun>;
  /** The version that each incarnation of its controller last received. */
  readonly shown: Map<string, StoredCronJob>;
  /** The versions that each incarnation recently received, oldest first: a sync uses the version at its begin. */
  readonly recentlyShown: Map<string, { readonly atMs: number; readonly object: StoredCronJob }[]>;
  /** When a cache last received an old change of it or its Jobs: until then the cache was stale. */
  lateEventMs: number;
}

/** A Job that a CronJob owns. */
export interface CronJobRun {
  readonly owner: CronJobRecord;
  object: Stored<Job>;
  gone: boolean;
  /** The slot for which the controller created it; `undefined` when another client created it. */
  readonly slotMs: number | undefined;
  /** When it finished or was deleted. */
  endedMs?: number;
  finishedMs?: number;
  /** The version that each incarnation of the controller last received; `undefined` after its deletion. */
  readonly shown: Map<string, Stored<Job> | undefined>;
  /** The last version that each incarnation received before the deletion, and when the deletion arrived. */
  readonly shownLast: Map<string, { readonly atMs: number; readonly object: Stored<Job> }>;
}

/** Longer than an undelayed event takes. */
const LATE_MS = 10_000;
/** Upstream: client-go, util/workqueue DefaultTypedControllerRateLimiter. */
export const SHORTEST_BACK_OFF_MS = 5;
export const LONGEST_BACK_OFF_MS = 1_000_000;

/** Records CronJobs, their Jobs, and what their controller received of them. Shared by all checks of a run. */
class CronRecords {
  readonly cronJobs = new Map<string, CronJobRecord>();
  readonly runs = new Map<string, CronJobRun>();
  readonly #world: World;
  /** When each version of CronJobs and Jobs was stored. */
  readonly #storedMs = new Map<string, number>();
  constructor(world: World) {
    this.#world = world;
  }

  onChange(change: StoredChange): void {
    if (change.resource === CRON_JOBS || change.resource === JOBS)
      this.#storedMs.set(change.object.metadata.resourceVersion ?? "", change.atMs);
    if (change.resource === CRON_JOBS) this.#cronJobChanged(change);
    else if (change.resource === JOBS) this.#jobChanged(change);
  }

  onCacheEvent(event: CacheEvent): void {
    if (event.component !== CRON_JOB_CONTROLLER) return;
    const uid = uidOf(event.object);
    const run = event.resource === JOBS ? this.runs.get(uid) : undefined;
    const cronJob = event.resource === CRON_JOBS ? this.cronJobs.get(uid) : run?.owner;
    if (cronJob === undefined) return;
    const { atMs, object, type } = event;
    const incarnationKey = incarnationKeyOf(event);
    const storedMs = this.#storedMs.get(object.metadata.resourceVersion ?? "") ?? run?.endedMs ?? atMs;
    if (atMs - storedMs > LATE_MS) cronJob.lateEventMs = atMs;
    if (run !== undefined) {
      const before = run.shown.get(incarnationKey);
      if (type === "delete" && before !== undefined) run.shownLast.set(incarnationKey, { atMs, object: before });
      run.shown.set(incarnationKey, type === "delete" ? undefined : object);
      return;
    }
    cronJob.shown.set(incarnationKey, object);
    const ofLate = cronJob.recentlyShown.get(incarnationKey) ?? [];
    // The last older version was the current one until the others arrived.
    const first = ofLate.findLastIndex((shown) => shown.atMs <= atMs - 2 * LONGEST_REQUEST_MS);
    cronJob.recentlyShown.set(incarnationKey, [...ofLate.slice(Math.max(0, first)), { atMs, object }]);
  }

  onDecision(reported: ReportedDecision): void {
    if (reported.controller !== CRON_JOB_CONTROLLER) return;
    const { key, outcome } = reported.decision;
    for (const cronJob of this.cronJobs.values())
      if (keyOf(cronJob.object) === key) cronJob.hasFailed = outcome === "failed";
  }

  /** Refusals delay the controller's next actions. */
  onAnswer(request: AnsweredRequest): void {
    if (request.component !== CRON_JOB_CONTROLLER) return;
    const { code, verb, subresource, atMs } = request;
    for (const cronJob of this.cronJobs.values()) {
      if (!concerns(request, cronJob.object)) continue;
      if (code >= 200 && code < 300) {
        // The status is written last: a sync that has not failed ends successfully.
        if (subresource === "status" && !cronJob.hasFailed) cronJob.refusals = 0;
        continue;
      }
      cronJob.refusedMs = atMs;
      if (verb !== "create") cronJob.hinderedMs = atMs;
      // A Job that exists already is no failure.
      if (verb === "create" && code === 409) {
        if (this.#isForeign(request, cronJob)) cronJob.foreignNames.add(request.name);
        continue;
      }
      cronJob.refusals++;
      cronJob.backsOffUntilMs = atMs + Math.min(SHORTEST_BACK_OFF_MS * 2 ** cronJob.refusals, LONGEST_BACK_OFF_MS);
    }
  }

  /** Reports whether the name of a request belongs to a stored Job that the CronJob does not own. */
  #isForeign({ namespace, name }: AnsweredRequest, { uid }: CronJobRecord): boolean {
    const job = this.#world.get(JOBS, namespace, name);
    return job !== undefined && ownerOfKind(job, "CronJob")?.uid !== uid;
  }

  #cronJobChanged({ type, object, previous, atMs }: StoredChange): void {
    const cronJob: StoredCronJob = object;
    const uid = uidOf(cronJob);
    let record = this.cronJobs.get(uid);
    if (record === undefined) {
      record = {
        uid,
        object: cronJob,
        gone: false,
        specs: [],
        generations: [],
        editedMs: atMs,
        activeMs: -Infinity,
        refusedMs: -Infinity,
        hinderedMs: -Infinity,
        backsOffUntilMs: -Infinity,
        refusals: 0,
        hasFailed: false,
        foreignNames: new Set(),
        jobs: new Map(),
        shown: new Map(),
        recentlyShown: new Map(),
        lateEventMs: -Infinity,
      };
      this.cronJobs.set(uid, record);
    }
    const before: StoredCronJob | undefined = previous;
    record.object = cronJob;
    record.gone = type === "DELETED";
    const { spec, metadata } = cronJob;
    if (spec !== undefined && (record.specs.length === 0 || metadata.generation !== record.generations.at(-1))) {
      record.specs.push(spec);
      record.generations.push(metadata.generation);
      if (before !== undefined) record.editedMs = atMs;
    }
    if (hasActive(record) || (before?.status?.active?.length ?? 0) > 0) record.activeMs = atMs;
  }

  #jobChanged({ type, object, request, atMs }: StoredChange): void {
    const job: Stored<Job> = object;
    const uid = uidOf(job);
    let run = this.runs.get(uid);
    if (run === undefined) {
      const owner = this.cronJobs.get(ownerOfKind(job, "CronJob")?.uid ?? "");
      if (owner === undefined) return;
      const slot = job.metadata.annotations?.[CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION];
      const slotMs = request?.component === CRON_JOB_CONTROLLER ? parseTime(slot) : undefined;
      run = { owner, object: job, gone: false, slotMs, shown: new Map(), shownLast: new Map() };
      this.runs.set(uid, run);
      owner.jobs.set(uid, run);
    }
    run.object = job;
    run.gone = type === "DELETED";
    if (run.finishedMs === undefined && isJobFinished(job)) run.finishedMs = atMs;
    if (run.gone || run.finishedMs !== undefined) run.endedMs ??= atMs;
    // A sync that waits for its end can proceed now.
    if (run.gone || run.finishedMs === atMs) run.owner.activeMs = Math.max(run.owner.activeMs, atMs);
  }
}

const makeCronRecords = (world: World): CronRecords => new CronRecords(world);

/** Returns the records of a run. */
export function cronRecordsOf(world: World): CronRecords {
  return world.shared(makeCronRecords);
}

/**
 * Returns the versions that a sync may have used that sent this request: it read its cache up to a few requests
 * earlier.
 */
export function versionsKnownTo({ recentlyShown }: CronJobRecord, request: ObservedRequest): readonly StoredCronJob[] {
  const shown = recentlyShown.get(incarnationKeyOf(request)) ?? [];
  const first = shown.findLastIndex(({ atMs }) => atMs <= request.sentMs - LONGEST_REQUEST_MS);
  return shown.slice(Math.max(0, first)).map(({ object }) => object);
}

/**
 * Returns the specs that a sync may have used that sent this request: none that was replaced before the sync received
 * the change.
 */
export function specsKnownTo(cronJob: CronJobRecord, request: ObservedRequest): readonly CronJobSpec[] {
  const [first] = versionsKnownTo(cronJob, request);
  const known = first === undefined ? -1 : cronJob.generations.indexOf(first.metadata.generation);
  return cronJob.specs.slice(Math.max(0, known));
}

/** Reports whether a request concerns a CronJob, or one of its Jobs, by name. */
function concerns({ resource, namespace, name }: AnsweredRequest, { metadata }: StoredCronJob): boolean {
  if (metadata.namespace !== namespace) return false;
  return resource === CRON_JOBS ? metadata.name === name : name.startsWith(`${metadata.name}-`);
}

/** Returns the first entry of the status's `active` list whose Job is stored and unfinished. */
export function firstActive(
  { object, jobs }: CronJobRecord,
  { status }: StoredCronJob = object,
): DeepReadonly<ObjectReference> | undefined {
  return status?.active?.find(({ uid }) => isUnfinished(jobs.get(uid ?? "")));
}

/** Reports whether the stored status lists a Job that is stored and unfinished. */
export function hasActive(cronJob: CronJobRecord): boolean {
  return firstActive(cronJob) !== undefined;
}

export function isUnfinished(run: CronJobRun | undefined): boolean {
  return run !== undefined && !run.gone && run.finishedMs === undefined;
}

/**
 * Returns the version of a Job that a sync may have used that sent this request: the cached one, unless its deletion
 * arrived before the sync, or the stored one.
 */
export function jobKnownTo(
  { shown, shownLast, gone, object }: CronJobRun,
  request: ObservedRequest,
): Stored<Job> | undefined {
  const incarnationKey = incarnationKeyOf(request);
  const last = shownLast.get(incarnationKey);
  const until = last !== undefined && last.atMs >= request.sentMs - LONGEST_REQUEST_MS ? last.object : undefined;
  return shown.get(incarnationKey) ?? until ?? (gone ? undefined : object);
}
