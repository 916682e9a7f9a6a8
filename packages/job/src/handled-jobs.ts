import { type Job, getControllerOf } from "@kubewright/api";
import type { Lister } from "@kubewright/informer";

import type { PodObject } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

/** Returns by the UID of a Job whether this controller handles it. Other controllers handle the rest. */
export type HandlesJob = (jobUID: string) => boolean;

/** Wraps a cache of Jobs and hides those of other controllers. */
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
 * Returns whether this controller removes the finalizer of a pod that will never be counted. The UID of the pod's
 * controlling Job decides, whether that Job exists or not. For a pod without controller its own UID decides, so that
 * exactly one controller is responsible.
 */
export function handlesPod(pod: PodObject, handles: HandlesJob | undefined): boolean {
  return handles === undefined || handles(getControllerOf(pod)?.uid ?? uidOf(pod));
}
