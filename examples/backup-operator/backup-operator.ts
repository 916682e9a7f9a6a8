import { findCondition, finishedCondition, isControlledBy, jobs } from "@kubewright/api";
import { TerminalError, createOperator, generationChanged, setCondition } from "@kubewright/operator";
import { deny, validatingWebhook } from "@kubewright/operator/webhooks";

import { backups, jobOf } from "./backup.ts";

/** Runs a Job for every Backup, reports its outcome, and deletes the copy before the Backup is deleted. */
export const backupOperator = createOperator({
  name: "backup-operator",
  metrics: (families) => ({
    ended: families.counter({ name: "backups_ended_total", help: "Backups that have ended", labels: ["result"] }),
  }),
});

backupOperator
  .controllerFor(backups, { workers: 2, predicate: generationChanged, reconcileTimeoutMs: 60_000 })
  .owns(jobs)
  .finalizer("example.com/copy", async ({ object, cache, client, events }) => {
    const remove = jobOf(object, "remove");
    const job = cache.get(jobs, remove.metadata.name!, remove.metadata.namespace);
    if (job === undefined) {
      await client.create(jobs, remove);
      events.normal("Removing", `Created Job ${remove.metadata.name}`);
    }
    // Waits for the end of the Job, which is watched. The retry after a minute covers a deletion of the Job by a user.
    return job !== undefined && finishedCondition(job)?.type === "Complete" ? {} : { requeueAfterMs: 60_000 };
  })
  .reconcile(async ({ object, cache, client, events, metrics, now }) => {
    const before = findCondition(object.status?.conditions, "Complete");
    if (before !== undefined && before.status !== "Unknown") return; // Done; the Job may be deleted.
    const wanted = jobOf(object, "copy");
    const name = wanted.metadata.name!;
    let job = cache.get(jobs, name, object.metadata.namespace);
    if (job === undefined) {
      job = await client.create(jobs, wanted);
      events.normal("Started", `Created Job ${name}`);
    }
    if (!isControlledBy(job, object)) throw new TerminalError(`Job ${name} exists and is not controlled by the Backup`);
    const end = finishedCondition(job);
    const status = end === undefined ? "Unknown" : end.type === "Complete" ? "True" : "False";
    const reason = end?.reason ?? (end === undefined ? "Copying" : end.type);
    const conditions = setCondition(object, { type: "Complete", status, reason, message: end?.message ?? "" }, now);
    await client.patchStatus(backups, object, { job: name, conditions });
    if (end === undefined) return;
    metrics.ended.inc({ result: end.type });
    if (end.type === "Complete") events.normal("Complete", `Job ${name} has copied ${object.spec.volume}`);
    else events.warning("Failed", `Job ${name} has failed: ${end.message ?? reason}`);
  });

/** The volume of a Backup is immutable. */
export const webhooks = [
  validatingWebhook(backups, ({ object, oldObject }) =>
    oldObject !== undefined && oldObject.spec.volume !== object.spec.volume
      ? deny("spec.volume may not change: make another Backup")
      : undefined,
  ),
];
