import { type Job, getControllerOf } from "@kubewright/api";
import type { Lister } from "@kubewright/informer";

import type { PodObject } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

/** Tells by a Job's uid whether it is this controller's: others of its kind see to the rest. */
export type HandlesJob = (jobUID: string) => boolean;

/** A cache of Jobs in which those of others are as if they were not there. */
export function handledJobs(
  jobs: Pick<Lister<Job>, "get" | "listNamespace">,
  handles: HandlesJob,
): Pick<Lister<Job>, "get" | "listNamespace"> {
  return {
    get(key) {
      const job = jobs.get(key);
      return job !== undefined && handles(job.metadata.uid ?? "") ? job : undefined;
    },
    listNamespace: (namespace) => jobs.listNamespace(namespace).filter(({ metadata }) => handles(metadata.uid ?? "")),
  };
}

/**
 * Whether a pod is this controller's to free, should nobody account for it: by the Job that controls it, whether it is there or not,
 * or by the pod's own uid where nothing does, so that one controller does it.
 */
export function handlesPod(pod: PodObject, handles: HandlesJob | undefined): boolean {
  return handles === undefined || handles(getControllerOf(pod)?.uid ?? uidOf(pod));
}
