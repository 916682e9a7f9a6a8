import { type ObjectKey, isControlledBy, jobs } from "@kubewright/api";
import {
  type ControllerDeps,
  ControllerShell,
  type Runnable,
  TerminalError,
  enqueueController,
  enqueueObject,
} from "@kubewright/controller";

import { backups, jobOf, statusOf } from "./backup.ts";

/** Runs a Job for every Backup, and reports its state in the Backup's status. */
export function backupController(deps: ControllerDeps): Runnable {
  const shell = new ControllerShell(deps, { name: "backup-controller" });
  const { client, events } = shell;
  const cachedBackups = shell.informer(backups);
  const cachedJobs = shell.informer(jobs);
  const queue = shell.addLoop({ queue: "backups", workers: 2, reconcile });
  cachedBackups.addEventHandler(enqueueObject(queue));
  cachedJobs.addEventHandler(enqueueController(queue, backups));
  return shell;

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const backup = cachedBackups.store.get(key);
    if (backup === undefined || backup.metadata.deletionTimestamp !== undefined) return;
    let job = cachedJobs.store.get(key);
    if (job === undefined) {
      if (backup.status !== undefined && backup.status.phase !== "Running") return; // Done; a user has deleted the Job.
      job = await client.resource(jobs).create(jobOf(backup), { signal });
      events.event(backup, backups, "Normal", "Started", `Created Job ${key}`);
    }
    if (!isControlledBy(job, backup)) throw new TerminalError(`Job ${key} exists and is not controlled by the Backup`);
    const status = statusOf(job);
    if (backup.status?.phase === status.phase) return;
    const { name = "", namespace } = backup.metadata;
    const patch = { type: "merge", body: { status } } as const;
    await client.resource(backups).patch(name, patch, { namespace, subresource: "status", signal });
    if (status.phase !== "Running") events.event(backup, backups, "Normal", status.phase, `Job ${key} has ended`);
  }
}
