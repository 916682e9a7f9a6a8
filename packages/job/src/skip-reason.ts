import { isJobFinished } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";

import { checkJobShape } from "./job-shape.js";
import { type JobObject, isManagedElsewhere } from "./job-spec.js";

/** A Job that a sync skips before it decides anything. */
export interface SkippedJob {
  readonly type: "skipped";
  readonly reason: "managedElsewhere" | "unreadable" | "finished" | "unknownCompletionMode";
  /** For `managedElsewhere` the other controller, for `unreadable` the error, for `unknownCompletionMode` the mode. */
  readonly detail: string;
}

/**
 * Returns why a sync skips the Job, or `undefined`.
 *
 * @param managedBy - Same as in the controller's options. Upstream: job_controller.go syncJob, its gates.
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

/** Returns the result for an invalid Job. */
export function unreadable(error: unknown): SkippedJob {
  return skipped("unreadable", errorMessage(error));
}

function skipped(reason: SkippedJob["reason"], detail: string): SkippedJob {
  return { type: "skipped", reason, detail };
}
