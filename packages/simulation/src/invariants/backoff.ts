import { isConditionTrue } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";

import type { Invariant, InvariantChecks, Violated } from "../invariant.js";
import type { AnsweredRequest, StoredChange, World } from "../world.js";
import { freeIndexes } from "./free-indexes.js";
import { IndexSet } from "./index-set.js";
import { type JobRecords, type JobRecord, type PodRecord, jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  type StoredJobSpec,
  type StoredPod,
  endedMs,
  failuresBefore,
  hasSucceeded,
  indexOf,
  isTracked,
  knownEndMs,
  policyAction,
  replacesOnlyFailed,
  wantedPods,
} from "./job-state.js";
import { clockMayBeWrong, podsPerSync, waitsForWrites } from "./plan-settings.js";
import { JOBS, JOB_CONTROLLER, PODS, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

const BASE_MS = 10_000;
const MAX_MS = 600_000;
/** Maximum number of ended pods that one sync records. */
const MAX_RECORDED = 500;
/** Times in the API have a resolution of one second: exception X8. */
const ROUNDING_MS = 1000;

/** Upstream: pkg/controller/job/backoff_utils.go. */
export const backOff: Invariant = {
  name: "S7 back-off",
  sentence:
    "A controller that has recorded n failures in a row, since the last success, creates no pod of " +
    "that Job, or index, until 10 s · 2^(n-1), at most 10 min, after the last recorded failure. It " +
    "neither waits longer nor counts failures that it knows to be older than a success.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const failuresByJob = new Map<string, FailuresInARow>();
    return {
      onAnswer(request) {
        const isAnswered = request.code >= 200 && request.code < 300;
        if (request.component !== JOB_CONTROLLER || request.resource !== JOBS || isAnswered) return;
        for (const record of failuresByJob.values()) record.onLost(request);
      },
      onDecision({ controller, decision, process, incarnation }) {
        if (controller !== JOB_CONTROLLER) return;
        const job = records.jobs.get(decision.uid);
        const wrong =
          (clockMayBeWrong(world) ? undefined : delayProblem(decision, job, podsPerSync(world))) ??
          (records.mayReadStaleState ? undefined : unobservedFailuresProblem(decision.plan, job, world));
        if (wrong !== undefined) violated(`Job ${decision.key}`, wrong);
        const incarnationKey = incarnationKeyOf({ component: controller, process, incarnation });
        failuresByJob.get(decision.uid)?.onDecision(incarnationKey, decision.statusWrites);
      },
      onChange(change) {
        const { request } = change;
        if (clockMayBeWrong(world) || request === undefined) return;
        if (change.resource === JOBS) {
          const job = records.jobs.get(uidOf(change.object));
          if (job === undefined) return;
          const record = failuresByJob.get(job.uid) ?? new FailuresInARow(job, records);
          failuresByJob.set(job.uid, record);
          record.onJob(change);
        } else if (change.resource === PODS) {
          const pod = records.pods.get(uidOf(change.object));
          const record = pod?.job === undefined ? undefined : failuresByJob.get(pod.job.uid);
          if (pod === undefined || record === undefined) return;
          record.onPod(pod, change);
          if (change.type !== "ADDED" || request.component !== JOB_CONTROLLER || pod.job!.externallyModified) return;
          const perIndex = pod.job!.object.spec?.backoffLimitPerIndex != null;
          if (perIndex) checkIndex(world, pod, violated);
          else record.check(change, violated);
        }
      },
    };
  },
};

/** Explains why a sync delays the next pod for too long, or uses another number of failures than it observes. */
function delayProblem({ plan, atMs }: JobDecision, job: JobRecord | undefined, maxPerSync: number): string | undefined {
  if (job === undefined || job.externallyModified) return undefined;
  const { retryAfterMs } = plan.pods ?? {};
  const wrong = failuresInARowProblem(plan);
  if (wrong !== undefined || retryAfterMs === undefined) return wrong;
  if (job.object.spec?.backoffLimitPerIndex != null) {
    const maxMs = Math.max(...job.specs.map((spec) => maxForIndexesMs(spec, plan, atMs, maxPerSync))) + ROUNDING_MS;
    return retryAfterMs <= maxMs
      ? undefined
      : `waits ${retryAfterMs / 1000} s, and an index is to be tried again in ${maxMs / 1000} s`;
  }
  const { failuresAfterLastSuccess: failures } = plan.backoff;
  const maxMs = backOffMs(failures) + ROUNDING_MS;
  return retryAfterMs <= maxMs
    ? undefined
    : `waits ${retryAfterMs / 1000} s after failure ${failures} in a row: that takes ${maxMs / 1000} s at most`;
}

/**
 * Checks the count of failures in a row. A success resets the count to the failures that are observed together with it
 * and ended after it.
 *
 * Upstream: pkg/controller/job/backoff_utils.go newBackoffRecord.
 */
function failuresInARowProblem({ observed, backoff, indexes }: JobDecision["plan"]): string | undefined {
  const { newlyFailed: failed, newlySucceeded } = observed;
  const { failuresAfterLastSuccess: failures } = backoff;
  // A succeeded pod of an index that has succeeded before is no new success.
  const isNews = (pod: StoredPod): boolean =>
    !(indexes?.succeededBefore ?? []).some(({ first, last }) => first <= indexOf(pod)! && indexOf(pod)! <= last);
  const succeededMs = newlySucceeded.filter(isNews).map(knownEndMs);
  if (succeededMs.length > 0) {
    const isOver = (endMs: number | undefined): boolean =>
      endMs !== undefined && succeededMs.some((successMs) => successMs !== undefined && successMs >= endMs);
    const max = failed.filter((pod) => !isOver(knownEndMs(pod))).length;
    if (failures > max)
      return `counts ${failures} failures in a row, though it sees a success, and ${max} of them after it`;
  }
  const isAfter = (endMs: number | undefined): boolean =>
    endMs !== undefined && succeededMs.every((successMs) => successMs !== undefined && successMs < endMs);
  const min = succeededMs.length === 0 ? failed.length : failed.filter((pod) => isAfter(knownEndMs(pod))).length;
  return failures >= min
    ? undefined
    : `counts ${failures} failures in a row, and sees ${min} that no success has followed`;
}

/** Returns the maximum time until one of the next indexes is due; each waits for the back-off after its failures. */
function maxForIndexesMs(spec: StoredJobSpec, plan: JobDecision["plan"], nowMs: number, maxPerSync: number): number {
  const { active, terminating, tracked } = plan.observed;
  const going = replacesOnlyFailed(spec) ? terminating.length : 0;
  const missing = (wantedPods(spec, plan.succeeded) ?? 0) - active.length - going;
  const waitsMs = freeIndexes(spec, plan)
    .slice(0, Math.max(0, Math.min(missing, maxPerSync)))
    .map((index) => {
      const failed = tracked.filter((pod) => indexOf(pod) === index);
      const count = Math.max(0, ...failed.map(failuresBefore).map(([counted, ignored]) => counted + ignored + 1));
      const lastMs = Math.max(...failed.map((pod) => knownEndMs(pod) ?? nowMs));
      return count === 0 ? 0 : backOffMs(count) - (nowMs - lastMs);
    });
  return waitsMs.length === 0 ? MAX_MS : Math.min(...waitsMs);
}

/**
 * Explains why a sync counts failures that it cannot have observed. A sync may observe a failure more than once:
 *
 * - the policy ignores it,
 * - it waits for its replacement,
 * - it exceeds what one sync records,
 * - the cache does not show the last write yet.
 */
function unobservedFailuresProblem(
  { backoff, end }: JobDecision["plan"],
  job: JobRecord | undefined,
  world: World,
): string | undefined {
  const { failuresAfterLastSuccess: failures } = backoff;
  if (failures === 0 || job === undefined || job.externallyModified || !waitsForWrites(world)) return undefined;
  // Pods that are deleted because their Job has succeeded are not recorded, and the Job waits for nothing more.
  if (end !== undefined) return undefined;
  const { spec } = job.object;
  if (spec === undefined || spec.backoffLimitPerIndex != null || spec.podFailurePolicy != null) return undefined;
  if (job.allPods.length >= (world.plan.controllers?.maxUncountedPods ?? MAX_RECORDED)) return undefined;
  const max = job.allPods.filter(
    ({ everFailed, everTerminating, flipped }) => everFailed || everTerminating || flipped,
  );
  return failures <= max.length
    ? undefined
    : `counts ${failures} failures in a row, and only ${max.length} of its pods have failed`;
}

function backOffMs(failures: number): number {
  return Math.min(MAX_MS, BASE_MS * 2 ** Math.min(failures - 1, 20));
}

/** The n-th pod of an index waits according to the failure counts in its annotations. */
function checkIndex({ nowMs }: World, pod: PodRecord, violated: Violated): void {
  const index = indexOf(pod.object);
  const [counted, ignored] = failuresBefore(pod.object);
  const failures = counted + ignored;
  if (index === undefined || failures === 0) return;
  let lastMs = Infinity;
  for (const other of pod.job!.allPods) {
    if (other === pod || !(other.everFailed || other.everTerminating) || indexOf(other.object) !== index) continue;
    const [before, ignoredBefore] = failuresBefore(other.object);
    if (before + ignoredBefore === failures - 1) lastMs = Math.min(lastMs, other.endedMs);
  }
  if (lastMs === Infinity) return;
  reportTooEarly(pod, failures, nowMs - lastMs, violated);
}

function reportTooEarly(pod: PodRecord, failures: number, afterMs: number, violated: Violated): void {
  const minMs = backOffMs(failures);
  if (afterMs >= minMs - ROUNDING_MS) return;
  violated(
    nameOf(pod.job!.object, "Job"),
    `gets ${nameOf(pod.object, "Pod")} ${afterMs / 1000} s after failure ${failures} in a row: that takes ${minMs / 1000} s`,
  );
}

interface Failure {
  readonly endedMs: number;
  /** Incarnation of the controller that recorded the failure; others do not know of it (X1). */
  readonly incarnationKey: string;
  readonly recordedMs: number;
}

/** Failures of one Job that the controller has recorded since its last success. */
class FailuresInARow {
  readonly #job: JobRecord;
  readonly #records: JobRecords;
  #failures: Failure[] = [];
  /**
   * UIDs of succeeded pods that no status records yet: whether the controller resets the count for them is not known.
   */
  readonly #unrecordedSuccesses = new Set<string>();
  /** Failures that the policy ignores and whose finalizer an unfinished sync has removed. */
  #ignored: Failure[] = [];
  /** When the last recorded success ended: earlier failures no longer count. */
  #successMs = -Infinity;
  #recorded: ReadonlySet<string> = new Set();

  constructor(job: JobRecord, records: JobRecords) {
    this.#job = job;
    this.#records = records;
  }

  onJob({ object, previous, request, atMs }: StoredChange): void {
    const job: StoredJob = object;
    const before: StoredJob | undefined = previous;
    if (job.spec?.suspend !== before?.spec?.suspend) this.#failures = [];
    if (request?.component !== JOB_CONTROLLER) return;
    const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
    const recorded = new Set([...succeeded, ...failed]);
    const news = failed.filter((uid) => !this.#recorded.has(uid));
    const completed = new IndexSet(job.status?.completedIndexes);
    const successes = [
      ...succeeded.filter((uid) => !this.#recorded.has(uid) && !this.#unrecordedSuccesses.has(uid)),
      ...[...this.#unrecordedSuccesses].filter(
        (uid) => recorded.has(uid) || completed.has(indexOf(this.#records.pods.get(uid)!.object) ?? -1),
      ),
    ];
    this.#recorded = recorded;
    for (const uid of successes) {
      this.#unrecordedSuccesses.delete(uid);
      const pod = this.#records.pods.get(uid);
      // The end of a pod that is being deleted, or whose status has changed, is uncertain: it may be as late as now.
      const isCertain = pod !== undefined && hasSucceeded(pod.object) && !isBeingDeleted(pod.object);
      this.#successMs = Math.max(this.#successMs, isCertain ? endedMs(pod.object) : atMs);
    }
    if (successes.length > 0) this.#failures = [];
    // A failing Job counts its running pods as failed; they cause no delay.
    if (isConditionTrue(job.status?.conditions, "FailureTarget")) return;
    for (const uid of news) {
      const pod = this.#records.pods.get(uid);
      if (pod === undefined) continue;
      const failure = {
        endedMs: Math.min(pod.endedMs, endedMs(pod.object)),
        incarnationKey: incarnationKeyOf(request),
        recordedMs: atMs,
      };
      if (failure.endedMs > this.#successMs) this.#failures.push(failure);
    }
  }

  /**
   * Handles a status write whose response was lost. The controller then treats the failures as counted, without having
   * noted their times. This is an exception like X1.
   */
  onLost(request: AnsweredRequest): void {
    const { namespace, name } = this.#job.object.metadata;
    if (request.namespace !== (namespace ?? "") || request.name !== name) return;
    const incarnationKey = incarnationKeyOf(request);
    this.#failures = this.#failures.filter(
      (failure) => failure.incarnationKey !== incarnationKey || failure.recordedMs < request.sentMs,
    );
  }

  onPod(pod: PodRecord, { object, previous, request, atMs }: StoredChange): void {
    if (hasSucceeded(object) && isTracked(object) && !pod.gone && !this.#recorded.has(pod.uid))
      this.#unrecordedSuccesses.add(pod.uid);
    else if (this.#unrecordedSuccesses.delete(pod.uid)) this.#failures = [];
    if (request?.component !== JOB_CONTROLLER || previous === undefined) return;
    if (!isTracked(previous) || (isTracked(object) && !pod.gone)) return;
    // The finalizer is removed without a record: an ignored failure, which delays the next pod like any other.
    const policy = this.#job.object.spec?.podFailurePolicy;
    const incarnationKey = incarnationKeyOf(request);
    if (policy == null || policyAction(policy, object) !== "Ignore" || !pod.shownEndedTo.has(incarnationKey)) return;
    if (endedMs(object) > this.#successMs)
      this.#ignored.push({ endedMs: endedMs(object), incarnationKey, recordedMs: atMs });
  }

  /** Ends a sync. The failures whose finalizers it removed count only if it has written a status. */
  onDecision(incarnationKey: string, statusWrites: number): void {
    const removed = this.#ignored.filter((failure) => failure.incarnationKey === incarnationKey);
    this.#ignored = this.#ignored.filter((failure) => failure.incarnationKey !== incarnationKey);
    if (statusWrites > 0) this.#failures.push(...removed);
  }

  check({ object, request, atMs }: StoredChange, violated: Violated): void {
    if (this.#unrecordedSuccesses.size > 0) return;
    const incarnationKey = incarnationKeyOf(request!);
    const known = this.#failures.filter(
      (failure) => failure.incarnationKey === incarnationKey && failure.recordedMs < request!.sentMs,
    );
    if (known.length === 0) return;
    // The controller counts from the failures that were recorded last, even if they ended earlier.
    const { recordedMs } = known.at(-1)!;
    const last = known.filter((failure) => failure.recordedMs === recordedMs);
    const lastMs = Math.max(...last.map(({ endedMs: ended }) => ended));
    if (this.#mayWaitForAnother(incarnationKey, known.length, atMs)) return;
    reportTooEarly(this.#records.pods.get(uidOf(object))!, known.length, atMs - lastMs, violated);
  }

  /**
   * Reports whether the sync may count from a failure that no status records yet and whose back-off is already over.
   */
  #mayWaitForAnother(incarnationKey: string, known: number, atMs: number): boolean {
    return this.#job.allPods.some(
      (pod) =>
        (pod.everFailed || pod.everTerminating) &&
        pod.shownEndedTo.has(incarnationKey) &&
        isTracked(pod.object) &&
        !this.#recorded.has(pod.uid) &&
        atMs - pod.endedMs >= backOffMs(known + 1) - ROUNDING_MS,
    );
  }
}
