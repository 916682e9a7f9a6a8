import { isJobFinished } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";

import { checkJobShape } from "./job-shape.js";
import { type JobObject, isManagedElsewhere } from "./job-spec.js";

/** A sync of the Job ends before it decides anything. */
export interface SkippedJob {
  readonly type: "left";
  readonly reason: "managedElsewhere" | "unreadable" | "finished" | "unknownCompletionMode";
  /** For `managedElsewhere` the other controller, for `unreadable` what is wrong, for the last one the mode. */
  readonly detail: string;
}

/**
 * Why there is nothing to decide about a Job, if so.
 *
 * @param managedBy - As in the controller's options.
 * Upstream: job_controller.go syncJob, its gates.
 */
export function skipReason(job: JobObject, managedBy?: string): SkippedJob | undefined {
  if (isManagedElsewhere(job, managedBy)) return skipped("managedElsewhere", job.spec?.managedBy ?? "");
  try {
    checkJobShape(job);
  } catch (error) {
    return unreadable(error);
  }
  if (isJobFinished(job)) return skipped("finished", "");
  const mode = job.spec?.completionMode;
  if (mode != null && mode !== "NonIndexed" && mode !== "Indexed") return skipped("unknownCompletionMode", mode);
  return undefined;
}

/** What the Job is like cannot be understood. */
export function unreadable(error: unknown): SkippedJob {
  return skipped("unreadable", errorMessage(error));
}

function skipped(reason: SkippedJob["reason"], detail: string): SkippedJob {
  return { type: "left", reason, detail };
}
