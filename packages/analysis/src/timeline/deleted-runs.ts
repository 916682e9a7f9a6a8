import type { ObjectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";
import type { RunRow, TimelineGroup } from "@kubewright/timeline/data";

import { replacedText } from "../text/run-row-text.js";

/** A row that waits for the reason of its Job's deletion. */
interface DeletedRun {
  readonly group: TimelineGroup;
  readonly run: RunRow;
}

/**
 * Distinguishes runs that Replace deleted from runs that other clients deleted. The decision comes before the
 * deletions, or after.
 */
export class DeletedRuns {
  readonly #onSettled: (group: TimelineGroup, run: RunRow) => void;
  /** By CronJob: the Job that Replace created, and the Jobs that it deleted for it. */
  readonly #replacements = new Map<ObjectKey, { readonly replacedBy: string; readonly jobs: readonly string[] }>();
  /** By CronJob: runs deleted since its last decision. The next decision may give the reason. */
  readonly #pending = new Map<ObjectKey, DeletedRun[]>();

  constructor(onSettled: (group: TimelineGroup, run: RunRow) => void) {
    this.#onSettled = onSettled;
  }

  /**
   * Records a deleted run. @param cronJob - Owner of the run; `undefined` for a Job without a CronJob, for which no
   * decision follows.
   */
  deleted(cronJob: ObjectKey | undefined, group: TimelineGroup, run: RunRow): void {
    if (cronJob === undefined) return this.#onSettled(group, run);
    const pending = this.#pending.get(cronJob);
    if (pending === undefined) this.#pending.set(cronJob, [{ group, run }]);
    else pending.push({ group, run });
    if (this.#replacements.get(cronJob)?.jobs.includes(run.name) === true) this.#settleAll(cronJob);
  }

  decided({ key, outcome, jobName, activeJobs = [] }: CronJobDecision): void {
    if (outcome === "replaced" && jobName !== undefined)
      this.#replacements.set(key, { replacedBy: jobName, jobs: activeJobs });
    this.#settleAll(key);
  }

  /** Settles the remaining runs, because no more decisions follow. */
  ended(): void {
    for (const key of this.#pending.keys()) this.#settleAll(key);
  }

  #settleAll(key: ObjectKey): void {
    const deleted = this.#pending.get(key);
    if (deleted === undefined) return;
    this.#pending.delete(key);
    const { replacedBy, jobs = [] } = this.#replacements.get(key) ?? {};
    for (const { group, run } of deleted) {
      if (replacedBy !== undefined && jobs.includes(run.name)) run.reason = replacedText((run.replacedBy = replacedBy));
      this.#onSettled(group, run);
    }
  }
}
