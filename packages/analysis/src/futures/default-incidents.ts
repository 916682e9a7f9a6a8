import type { RunInput } from "../input/run-input.js";
import type { GroupName } from "./load-curve.js";
import type { Incident } from "./incident.js";

/** Incidents that are counted by default. */
export const DEFAULT_INCIDENTS: readonly Incident[] = [
  { kind: "skipped" },
  { kind: "late" },
  { kind: "failed" },
  { kind: "overlap" },
  { kind: "unschedulable" },
  { kind: "never-finished" },
];

/** Returns the CronJobs, and the Jobs without a controller, that have a name. */
export function groupsOf({ manifests }: Pick<RunInput, "manifests">): GroupName[] {
  return manifests.flatMap(({ object: { kind, metadata } }) => {
    const { namespace = "default", name, ownerReferences = [] } = metadata;
    const isRun = ownerReferences.some(({ controller }) => controller === true);
    return (kind !== "CronJob" && kind !== "Job") || name === undefined || isRun ? [] : [{ kind, namespace, name }];
  });
}
