import type { ObjectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";
import type { RunRow, TimelineGroup } from "@kubewright/timeline/data";

import { replacedText } from "../run-row-text.js";

/** A row that is told of once it is known why its Job was deleted. */
interface DeletedRun {
  readonly group: TimelineGroup;
  readonly run: RunRow;
}

/** Tells runs that Replace deleted for the next from those that others did: its decision comes before them, or after. */
export class DeletedRuns {
  readonly #onSettled: (group: TimelineGroup, run: RunRow) => void;
  /** By CronJob: the Job that Replace made, and those it asked to be deleted for it. */
  readonly #replacements = new Map<ObjectKey, { readonly replacedBy: string; readonly jobs: readonly string[] }>();
  /** By CronJob: runs deleted since its last decision, which may be about to say why. */
  readonly #pending = new Map<ObjectKey, DeletedRun[]>();

  constructor(onSettled: (group: TimelineGroup, run: RunRow) => void) {
    this.#onSettled = onSettled;
  }

  /** @param cronJob - Whose run it was; `undefined` for a Job of its own, of which no decision will come. */
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

  /** No decision will come any more. */
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
