import { type CronJob, type DeepReadonly, type Job, apiVersionOf, compareTimes, jobs } from "@kubewright/api";

type Status = NonNullable<DeepReadonly<CronJob>["status"]>;

/** A CronJob whose status one sync edits, and whether it has to be written. The cached object is not modified. */
export class CronJobDraft {
  #cronJob: DeepReadonly<CronJob>;
  /** The edited status, or `undefined` if it is unchanged. */
  #status: Status | undefined;
  readonly #removed: string[] = [];
  /** Whether the status has to be written. It need not differ: the server drops redundant writes. */
  changed = false;

  constructor(cached: DeepReadonly<CronJob>) {
    this.#cronJob = cached;
  }

  get cronJob(): DeepReadonly<CronJob> {
    return this.#cronJob;
  }

  isActive(uid: string | undefined): boolean {
    return isListed(this.#cronJob, uid);
  }

  removeActive(uid: string | undefined): void {
    if (uid !== undefined) this.#removed.push(uid);
    this.#unlist(uid);
  }

  /** Adds the Job of a slot to the active list, and sets `lastScheduleTime` to the slot. */
  addActive(job: DeepReadonly<Job>, lastScheduleTime: string): void {
    const { namespace, name, uid, resourceVersion } = job.metadata;
    const { status } = this.#cronJob;
    const reference = {
      kind: jobs.kind,
      apiVersion: apiVersionOf(jobs),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    this.#setStatus({ ...status, active: [...(status?.active ?? []), reference], lastScheduleTime });
    this.changed = true;
  }

  setLastSuccessfulTime(time: string | undefined): void {
    if (time !== undefined) this.#setStatus({ ...this.#cronJob.status, lastSuccessfulTime: time });
    this.changed = true;
  }

  /**
   * Replaces the object with a newer one from the server and keeps the edits. Upstream also continues with the newer
   * object, but writes the old one. It gets a conflict and repeats everything.
   */
  rebase(live: DeepReadonly<CronJob>): void {
    const lastSuccessfulTime = this.#status?.lastSuccessfulTime;
    this.#cronJob = live;
    this.#status = undefined;
    for (const uid of this.#removed) this.#unlist(uid);
    const liveTime = live.status?.lastSuccessfulTime;
    if (lastSuccessfulTime !== undefined && (!liveTime || compareTimes(liveTime, lastSuccessfulTime) < 0))
      this.#setStatus({ ...this.#cronJob.status, lastSuccessfulTime });
  }

  #unlist(uid: string | undefined): void {
    if (!this.isActive(uid)) return;
    const { active, ...others } = this.#cronJob.status ?? {};
    const left = active?.filter((job) => job.uid !== uid) ?? [];
    this.#setStatus(left.length > 0 ? { ...others, active: left } : others);
  }

  #setStatus(status: Status): void {
    this.#status = status;
    this.#cronJob = { ...this.#cronJob, status };
  }
}

/** Returns whether `status.active` of the CronJob contains a reference with this UID. */
export function isListed(cronJob: DeepReadonly<CronJob>, uid: string | undefined): boolean {
  return cronJob.status?.active?.some((job) => job.uid === uid) ?? false;
}
