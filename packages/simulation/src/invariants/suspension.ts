import { isConditionTrue } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { StoredJob } from "./job-words.js";
import { lastWrittenOf } from "./last-written.js";
import { JOB_CONTROLLER, nameOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go syncJob, what it does about the condition Suspended. */
export const suspensionIsTold: Invariant = {
  name: "S25 suspension is told",
  sentence:
    "What a sync that may change pods writes of a Job that goes on says that it is suspended if and only if it is, and tells when it " +
    "was started if and only if it is not.",
  watch(world, violated): InvariantChecks {
    const written = lastWrittenOf(world);
    return {
      onDecision(told) {
        if (told.controller !== JOB_CONTROLLER) return;
        const { plan } = told.decision;
        const job = written.ofSync;
        if (job === undefined || plan.pods === undefined || isEnding(job)) return;
        const isSuspended = job.spec?.suspend === true;
        const refuse = (message: string): void => violated(nameOf(job, "Job"), message);
        if (isConditionTrue(job.status?.conditions, "Suspended") !== isSuspended)
          refuse(`is ${isSuspended ? "" : "not "}suspended, and its status says otherwise`);
        const { startTime } = job.status ?? {};
        if (isSuspended && startTime != null) refuse(`is suspended, and its startTime is ${startTime}`);
        if (!isSuspended && startTime == null) refuse("is not suspended, and has no startTime");
      },
    };
  },
};

function isEnding({ status }: StoredJob): boolean {
  return ["FailureTarget", "SuccessCriteriaMet"].some((type) => isConditionTrue(status?.conditions, type));
}
