import type { ObjectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";
import type { RunRow, TimelineGroup } from "@kubewright/timeline/data";

import { replacedText } from "../run-words.js";

/** A row that is told of once it is known why its Job was deleted. */
interface DeletedRun {
  readonly group: TimelineGroup;
  readonly run: RunRow;
}

/** Tells runs that Replace deleted for the next from those that others did: its decision comes before them, or after. */
export class DeletedRuns {
  readonly #settle: (group: TimelineGroup, run: RunRow) => void;
  /** By CronJob: the Job that Replace made, and those it asked to be deleted for it. */
  readonly #replacements = new Map<ObjectKey, { readonly by: string; readonly jobs: readonly string[] }>();
  /** By CronJob: runs deleted since its last decision, which may be about to say why. */
  readonly #waiting = new Map<ObjectKey, DeletedRun[]>();

  constructor(settle: (group: TimelineGroup, run: RunRow) => void) {
    this.#settle = settle;
  }

  /** @param cronJob - Whose run it was; `undefined` for a Job of its own, of which no decision will come. */
  deleted(cronJob: ObjectKey | undefined, group: TimelineGroup, run: RunRow): void {
    if (cronJob === undefined) return this.#settle(group, run);
    const others = this.#waiting.get(cronJob);
    if (others === undefined) this.#waiting.set(cronJob, [{ group, run }]);
    else others.push({ group, run });
    if (this.#replacements.get(cronJob)?.jobs.includes(run.name) === true) this.#settleAll(cronJob);
  }

  decided({ key, outcome, jobName, activeJobs = [] }: CronJobDecision): void {
    if (outcome === "replaced" && jobName !== undefined) this.#replacements.set(key, { by: jobName, jobs: activeJobs });
    this.#settleAll(key);
  }

  /** No decision will come any more. */
  ended(): void {
    for (const key of this.#waiting.keys()) this.#settleAll(key);
  }

  #settleAll(key: ObjectKey): void {
    const deleted = this.#waiting.get(key);
    if (deleted === undefined) return;
    this.#waiting.delete(key);
    const { by, jobs = [] } = this.#replacements.get(key) ?? {};
    for (const { group, run } of deleted) {
      if (by !== undefined && jobs.includes(run.name)) run.reason = replacedText((run.replacedBy = by));
      this.#settle(group, run);
    }
  }
}
