import type { CronJob } from "@kubewright/api";
import { mutableCopy } from "@kubewright/api";

import type { Manifest } from "../input/manifest.js";
import type { ScheduledLoad } from "./scheduled-load.js";

/** A new schedule for a CronJob. */
export interface ScheduleChange {
  readonly load: ScheduledLoad;
  readonly from: string;
  readonly to: string;
}

/** Returns the changes of CronJobs whose first minute differs. @param minutes - In the order of `loads`. */
export function scheduleChanges(loads: readonly ScheduledLoad[], minutes: readonly number[]): ScheduleChange[] {
  return loads.flatMap((load, index) => {
    const shift = minutes[index]! - load.minute;
    return shift === 0 || load.field === undefined
      ? []
      : [{ load, from: load.schedule, to: load.field.shiftedBy(shift) }];
  });
}

/** Returns the manifests with the new schedules. */
export function movedManifests(manifests: readonly Manifest[], changes: readonly ScheduleChange[]): Manifest[] {
  const changed = new Map(changes.map(({ load, to }) => [load.manifest, to]));
  return manifests.map((manifest) => {
    const schedule = changed.get(manifest);
    if (schedule === undefined) return manifest;
    const object = mutableCopy(manifest.object);
    (object as unknown as { spec: { schedule: string } }).spec.schedule = schedule;
    return { ...manifest, object };
  });
}

/** Returns documents with only the new schedules, for `kubectl apply --server-side`. */
export function patchText(changes: readonly ScheduleChange[]): string {
  if (changes.length === 0) return "# Nothing to change.\n";
  return changes.map(({ load, to }) => documentText(load.manifest.object as unknown as CronJob, to)).join("---\n");
}

// A quoted JSON string is valid YAML for any content.
function documentText({ apiVersion, metadata: { name, namespace } }: CronJob, schedule: string): string {
  return [
    `apiVersion: ${apiVersion}`,
    "kind: CronJob",
    "metadata:",
    `  name: ${JSON.stringify(name)}`,
    ...(namespace === undefined ? [] : [`  namespace: ${JSON.stringify(namespace)}`]),
    "spec:",
    `  schedule: ${JSON.stringify(schedule)}`,
    "",
  ].join("\n");
}
