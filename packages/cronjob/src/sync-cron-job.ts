import {
  type CronJob,
  type DeepReadonly,
  type Job,
  compareResourceVersions,
  cronJobs,
  formatTime,
  keyOf,
  parseTime,
} from "@kubewright/api";
import {
  type ResourceClient,
  errorMessage,
  hasStatusCause,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "@kubewright/client";
import type { EventSink, EventType } from "@kubewright/controller";

import { CronJobDraft, isListed } from "./cron-job-draft.js";
import type { CronJobDecision, CronJobReason } from "./decision.js";
import { type StartOutcome, existingJobOutcome } from "./existing-job.js";
import { jobsOverHistoryLimit } from "./finished-jobs.js";
import type { ReportedSlots } from "./missed-slots.js";
import { type CronJobPlan, type PlanContext, type StartPlan, planCronJob } from "./plan-cron-job.js";
import { type ActiveReference, removeReference, referencesWithoutJob, refreshWithJob } from "./refresh-status.js";

export interface SyncDeps extends Pick<PlanContext, "schedules"> {
  readonly cronJobs: ResourceClient<CronJob>;
  readonly jobs: ResourceClient<Job>;
  readonly events: EventSink;
  readonly now: () => number;
  /** Records the seconds from a slot to the creation of its Job, by the server's timestamp. */
  readonly observeCreationSkew: (seconds: number) => void;
  readonly onDecision: (decision: CronJobDecision) => void;
}

/** State of a CronJob between syncs. */
export interface SyncMemory {
  /**
   * Whether the API server has reported that the CronJob does not exist any more or is being deleted, even if the cache
   * shows otherwise.
   */
  isGone?: true | undefined;
  /** The CronJob as the last sync wrote it, until the cache shows that version. */
  written?: DeepReadonly<CronJob> | undefined;
  /** Affects only what decisions report. */
  reported?: ReportedSlots | undefined;
}

/**
 * Syncs one CronJob. It deletes finished Jobs over the history limits, updates the status, and starts the Job of the
 * most recent slot if one is due. It writes the status at most once, last.
 *
 * Old Jobs are deleted first, so that an exhausted quota cannot prevent their deletion. The new Job is created before
 * the status write: after a crash in between, the next sync uses the same name, and no run is lost. For the same reason
 * a sync takes no signal and is never aborted.
 *
 * @param jobs - The Jobs in the namespace whose controllerRef has the CronJob's name.
 * @returns Milliseconds until the next sync, at the next slot. `undefined`: no timer, and the CronJob's failure count
 * stays as it is.
 * @throws StatusError or Error of a failed step that has to be retried. Earlier changes are written.
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go sync, syncCronJob
 */
export async function syncCronJob(
  cached: DeepReadonly<CronJob>,
  jobs: readonly DeepReadonly<Job>[],
  memory: SyncMemory,
  deps: SyncDeps,
): Promise<number | undefined> {
  const cronJob = newestKnown(cached, memory);
  // A Job started now would be deleted as garbage, and its deletion would trigger the next start. Upstream repeats this
  // while its cache lags.
  if (memory.isGone === true && cronJob.metadata.deletionTimestamp == null) return undefined;
  const sync = new Sync(cronJob, deps);
  // A Job that cannot be deleted is reported by its event only; the next sync retries.
  for (const { metadata } of jobsOverHistoryLimit(jobs, cronJob.spec ?? {})) await sync.deleteJob(metadata);
  let requeueAfterMs: number | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    requeueAfterMs = await sync.reconcile(jobs, memory);
  } catch (error) {
    failure = { error };
  }
  if (sync.draft.changed) {
    try {
      memory.written = await deps.cronJobs.updateStatus(sync.draft.cronJob);
    } catch (error) {
      if (await isGone(cronJob, error, deps)) memory.isGone = true;
      throw error;
    }
  }
  if (failure !== undefined) throw failure.error;
  return requeueAfterMs;
}

/**
 * Returns the newest known version of the CronJob. Upstream uses its cache only. A stale cache may then start a Job
 * again that has ended and was deleted by a history limit or its time to live.
 */
function newestKnown(cached: DeepReadonly<CronJob>, memory: SyncMemory): DeepReadonly<CronJob> {
  const { written } = memory;
  if (written === undefined) return cached;
  const [read = "", wrote = ""] = [cached.metadata.resourceVersion, written.metadata.resourceVersion];
  if ((compareResourceVersions(read, wrote) ?? 0) < 0) return written;
  memory.written = undefined;
  return cached;
}

/**
 * Returns whether a status write was rejected because the CronJob is missing or being deleted, or another object has
 * its name.
 */
async function isGone(
  { metadata }: DeepReadonly<CronJob>,
  refusal: unknown,
  { cronJobs: client }: SyncDeps,
): Promise<boolean> {
  if (isNotFound(refusal)) return true;
  if (!isConflict(refusal)) return false;
  try {
    const live = await client.get(metadata.name ?? "", { namespace: metadata.namespace });
    return live.metadata.uid !== metadata.uid || live.metadata.deletionTimestamp != null;
  } catch (error) {
    return isNotFound(error);
  }
}

type DeletableJob = Pick<ActiveReference, "name" | "namespace" | "uid">;

class Sync {
  readonly draft: CronJobDraft;
  readonly #deps: SyncDeps;
  readonly #namespace: string;

  constructor(cached: DeepReadonly<CronJob>, deps: SyncDeps) {
    this.draft = new CronJobDraft(cached);
    this.#deps = deps;
    this.#namespace = cached.metadata.namespace ?? "";
  }

  async reconcile(jobs: readonly DeepReadonly<Job>[], memory: SyncMemory): Promise<number | undefined> {
    const nowMs = this.#deps.now();
    let plan: CronJobPlan | undefined;
    try {
      await this.#refreshStatus(jobs);
      plan = this.#plan(nowMs, memory);
      const { start } = plan;
      const startOutcome = start === undefined ? undefined : await this.#start(start);
      // The slot is lost only when the next slot is due: the name may become free before.
      if (startOutcome?.reason === "ownedByAnother")
        memory.reported = { upToMs: start!.slotMs - 1, stoppedBy: startOutcome.reason };
      this.#reportDecision(nowMs, { ...plan.decision, ...startOutcome });
      return plan.requeueAfterMs;
    } catch (error) {
      throw this.#reportFailure(nowMs, plan, error);
    }
  }

  #plan(nowMs: number, memory: SyncMemory): CronJobPlan {
    const plan = planCronJob(this.draft.cronJob, {
      nowMs,
      schedules: this.#deps.schedules,
      reported: memory.reported,
    });
    memory.reported = plan.reported;
    for (const { type, reason, message } of plan.events) this.#event(type, reason, message);
    return plan;
  }

  /** @returns The error to throw. */
  #reportFailure(nowMs: number, plan: CronJobPlan | undefined, error: unknown): unknown {
    const { nextSyncMs: _none, ...decision } = plan?.decision ?? { missed: [] };
    const reason = error instanceof StepError ? error.reason : "getFailed";
    this.#reportDecision(nowMs, { ...decision, outcome: "failed", reason, message: errorMessage(error) });
    return error instanceof StepError && error.cause !== undefined ? error.cause : error;
  }

  /** @returns A promise if a live read is necessary; usually `undefined`. */
  #refreshStatus(jobs: readonly DeepReadonly<Job>[], first = 0): Promise<void> | undefined {
    for (let index = first; index < jobs.length; index++) {
      const job = jobs[index]!;
      const relation = refreshWithJob(this.draft, job);
      if (relation.type === "unlisted")
        return this.#checkUnlistedJob(job).then(() => this.#refreshStatus(jobs, index + 1));
      if (relation.type === "completed") {
        const message = `Saw completed job: ${job.metadata.name}, condition: ${relation.condition.type}`;
        this.#event("Normal", "SawCompletedJob", message);
      }
    }
    const missing = referencesWithoutJob(this.draft, jobs);
    return missing.length === 0 ? undefined : this.#checkMissingJobs(missing);
  }

  async #checkMissingJobs(missing: readonly ActiveReference[]): Promise<void> {
    for (const reference of missing) {
      // Upstream keeps the entry as long as any Job has that name.
      if ((await this.#uidOf(reference)) === reference.uid) continue;
      this.#event("Normal", "MissingJob", `Active job went missing: ${reference.name}`);
      removeReference(this.draft, reference);
    }
  }

  /**
   * Returns the UID of the Job that has the name now, by a live read because the cache may lag; `undefined` without
   * one.
   */
  async #uidOf({ name = "", namespace }: ActiveReference): Promise<string | undefined> {
    try {
      return (await this.#deps.jobs.get(name, { namespace })).metadata.uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Handles an unfinished Job that the cached CronJob does not list: the cache is stale, or another client created the
   * Job.
   */
  async #checkUnlistedJob({ metadata: { name, uid } }: DeepReadonly<Job>): Promise<void> {
    const live = await this.#deps.cronJobs.get(this.draft.cronJob.metadata.name ?? "", {
      namespace: this.#namespace,
    });
    if (isListed(live, uid)) return this.draft.rebase(live);
    this.#event("Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
  }

  /** @returns The outcome when the Job existed; `undefined` when it was created. */
  async #start({ slotMs, job, replace }: StartPlan): Promise<StartOutcome | undefined> {
    const { draft } = this;
    const deps = this.#deps;
    for (const reference of replace) await this.#replaceJob(reference);
    let created: DeepReadonly<Job>;
    let startOutcome: StartOutcome | undefined;
    try {
      created = await deps.jobs.create(job, { namespace: this.#namespace });
      deps.observeCreationSkew(((parseTime(created.metadata.creationTimestamp) ?? slotMs) - slotMs) / 1000);
      this.#event("Normal", "SuccessfulCreate", `Created job ${created.metadata.name}`);
    } catch (error) {
      if (hasStatusCause(error, "NamespaceTerminating")) throw new StepError("namespaceTerminating", error);
      if (!isAlreadyExists(error)) {
        this.#event("Warning", "FailedCreate", `Error creating job: ${errorMessage(error)}`);
        throw new StepError("createFailed", error);
      }
      const { name = "" } = job.metadata;
      created = await deps.jobs.get(name, { namespace: this.#namespace });
      startOutcome = existingJobOutcome(draft.cronJob, created);
      if (startOutcome.outcome !== "adopted") return startOutcome;
    }
    draft.addActive(created, formatTime(slotMs));
    return startOutcome;
  }

  async #replaceJob(reference: ActiveReference): Promise<void> {
    const { name = "", namespace } = reference;
    try {
      await this.#deps.jobs.get(name, { namespace });
    } catch (error) {
      this.#event("Warning", "FailedGet", `Get job: ${errorMessage(error)}`);
      throw error;
    }
    if (!(await this.deleteJob(reference)))
      throw new StepError("deleteFailed", new Error(`could not replace job ${namespace}/${name}`));
  }

  /**
   * Requests the deletion of a Job and its pods, and records the result as an event. The pods may continue to run for a
   * while. The UID precondition selects this Job. Upstream uses the name only, and may delete another Job that has just
   * received the name.
   */
  async deleteJob({ name = "", namespace, uid }: DeletableJob): Promise<boolean> {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await this.#deps.jobs.delete(name, { namespace, propagationPolicy: "Background", ...preconditions });
    } catch (error) {
      this.#event("Warning", "FailedDelete", `Deleted job: ${errorMessage(error)}`);
      return false;
    }
    this.draft.removeActive(uid);
    this.draft.changed = true;
    this.#event("Normal", "SuccessfulDelete", `Deleted job ${name}`);
    return true;
  }

  #event(type: EventType, reason: string, message: string): void {
    this.#deps.events.event(this.draft.cronJob, cronJobs, type, reason, message);
  }

  #reportDecision(atMs: number, decision: Omit<CronJobDecision, "key" | "atMs">): void {
    this.#deps.onDecision({ key: keyOf(this.draft.cronJob), atMs, ...decision });
  }
}

/** Marks the step that failed, for the decision. The cause is the error to rethrow. */
class StepError extends Error {
  override readonly name = "StepError";

  constructor(
    readonly reason: CronJobReason,
    override readonly cause: unknown,
  ) {
    super(errorMessage(cause));
  }
}
