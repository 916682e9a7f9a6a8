import { type CronJob, type DeepReadonly, type Job, apiVersionOf, jobs, mutableCopy } from "@kubewright/api";

type Status = NonNullable<CronJob["status"]>;

/** A CronJob whose status one sync edits, and whether it has to be written back. What is cached stays as it is. */
export class CronJobDraft {
  #cronJob: DeepReadonly<CronJob>;
  /** Own copy of the status, once there is something to edit. */
  #status: Status | undefined;
  readonly #removed = new Set<string>();
  /** Something happened that calls for a status write. The status need not differ: the server drops redundant writes. */
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
    if (uid !== undefined) this.#removed.add(uid);
    if (!this.isActive(uid)) return;
    const status = this.#edit();
    const active = status.active?.filter((job) => job.uid !== uid) ?? [];
    if (active.length > 0) status.active = active;
    else delete status.active;
  }

  /** Lists the Job of a slot as active, and the slot as the last one scheduled. */
  addActive(job: DeepReadonly<Job>, lastScheduleTime: string): void {
    const { namespace, name, uid, resourceVersion } = job.metadata;
    const status = this.#edit();
    status.active = [
      ...(status.active ?? []),
      {
        kind: jobs.kind,
        apiVersion: apiVersionOf(jobs),
        ...(namespace === undefined ? {} : { namespace }),
        ...(name === undefined ? {} : { name }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
    ];
    status.lastScheduleTime = lastScheduleTime;
    this.changed = true;
  }

  setLastSuccessfulTime(time: string | undefined): void {
    if (time !== undefined) this.#edit().lastSuccessfulTime = time;
    this.changed = true;
  }

  /**
   * Goes on with a newer object read from the server, carrying over what was edited so far. Upstream goes on with the
   * newer object too, but writes the old one, gets a conflict for it, and does everything again.
   */
  rebase(live: DeepReadonly<CronJob>): void {
    const lastSuccessfulTime = this.#status?.lastSuccessfulTime;
    this.#cronJob = live;
    this.#status = undefined;
    for (const uid of this.#removed) this.removeActive(uid);
    const liveTime = live.status?.lastSuccessfulTime;
    // Both are UTC with whole seconds, and so compare as text.
    if (lastSuccessfulTime !== undefined && (liveTime === undefined || liveTime < lastSuccessfulTime)) {
      this.#edit().lastSuccessfulTime = lastSuccessfulTime;
    }
  }

  #edit(): Status {
    if (this.#status === undefined) {
      this.#status = mutableCopy(this.#cronJob.status ?? {});
      this.#cronJob = { ...this.#cronJob, status: this.#status };
    }
    return this.#status;
  }
}

/** Whether `status.active` of the CronJob has a reference with this UID. */
export function isListed(cronJob: DeepReadonly<CronJob>, uid: string | undefined): boolean {
  return cronJob.status?.active?.some((job) => job.uid === uid) ?? false;
}
