import type { CronJob, DeepReadonly, Job, KubernetesObject } from "@kubewright/api";

import type { SettledObject } from "./outcome.js";
import type { StoreMirror } from "./store-mirror.js";

/**
 * Returns the settled state of all objects, by `Job default/pi`: the fields that depend neither on drawn names nor on
 * times.
 */
export function settledObjects(mirror: StoreMirror): Record<string, SettledObject> {
  const settled: Record<string, SettledObject> = {};
  for (const resource of mirror.resources)
    for (const object of mirror.list(resource)) {
      const outcome = settledObject(resource, object);
      if (outcome === undefined) continue;
      const { namespace, name = "" } = object.metadata;
      settled[`${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`] = outcome;
    }
  return settled;
}

/** Resources whose objects are left out, because even their existence depends on the run. */
const EPHEMERAL_RESOURCES: ReadonlySet<string> = new Set([
  "pods",
  "events",
  "events.events.k8s.io",
  "leases.coordination.k8s.io",
]);

function settledObject(resource: string, object: DeepReadonly<KubernetesObject>): SettledObject | undefined {
  if (EPHEMERAL_RESOURCES.has(resource)) return undefined;
  const deleting = object.metadata.deletionTimestamp === undefined ? {} : { deleting: true };
  if (resource === "jobs.batch") return { ...settledJob(object), ...deleting };
  if (resource === "cronjobs.batch") {
    const { status } = object as DeepReadonly<CronJob>;
    return { active: status?.active?.length ?? 0, ...deleting };
  }
  return { ...conditionsOf(object), ...deleting };
}

function settledJob({ status = {} }: DeepReadonly<Job>): SettledObject {
  const end = status.conditions?.find(
    ({ type, status: holds }) => (type === "Complete" || type === "Failed") && holds === "True",
  );
  return {
    end: end?.type ?? "",
    reason: end?.reason ?? "",
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    active: status.active ?? 0,
    ...(status.completedIndexes === undefined ? {} : { completedIndexes: status.completedIndexes }),
    ...(status.failedIndexes === undefined ? {} : { failedIndexes: status.failedIndexes }),
  };
}

/** Returns the conditions by type: `{ Ready: "True" }`. */
function conditionsOf(object: DeepReadonly<KubernetesObject>): SettledObject {
  const { status } = object as { status?: { conditions?: readonly { type?: string; status?: string }[] } };
  const conditions = Array.isArray(status?.conditions) ? status.conditions : [];
  return Object.fromEntries(conditions.map(({ type = "", status: holds = "" }) => [type, holds]));
}
