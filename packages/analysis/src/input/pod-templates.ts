import {
  type CronJob,
  type DeepReadonly,
  type Job,
  type JobSpec,
  type Pod,
  finishedCondition,
  getControllerOf,
} from "@kubewright/api";
import type { PendingPods } from "@kubewright/cluster";

import type { Manifest } from "./manifest.js";

/**
 * Returns the pods that manifests will create, and the pods among them. Finished Jobs and controlled pods have none.
 */
export function podTemplates(manifests: readonly Manifest[]): PendingPods[] {
  return manifests.flatMap(({ object }) => {
    const owner = `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name ?? object.metadata.generateName ?? ""}`;
    switch (object.kind) {
      case "CronJob":
        return ofJob(owner, (object as unknown as CronJob).spec?.jobTemplate?.spec);
      case "Job": {
        const job = object as unknown as Job;
        return finishedCondition(job) === undefined ? ofJob(owner, job.spec) : [];
      }
      case "Pod": {
        const { spec } = object as unknown as Pod;
        const isControlled = getControllerOf(object) !== undefined;
        return spec === undefined || isControlled ? [] : [{ owner, spec, count: 1 }];
      }
      default:
        return [];
    }
  });
}

function ofJob(owner: string, spec: DeepReadonly<JobSpec> | undefined): PendingPods[] {
  const template = spec?.template?.spec;
  if (template === undefined || !Array.isArray(template.containers)) return [];
  const { parallelism = 1, completions = parallelism } = spec ?? {};
  return [{ owner, spec: template, count: Math.max(1, Math.min(parallelism, completions)) }];
}
