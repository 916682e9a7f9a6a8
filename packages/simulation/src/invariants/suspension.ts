import { isConditionTrue } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import { jobLedgerOf } from "./job-ledger.js";
import type { StoredJob } from "./job-words.js";
import { JOBS, JOB_CONTROLLER, lifeOf, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go syncJob, what it does about the condition Suspended. */
export const suspensionIsTold: Invariant = {
  name: "S25 suspension is told",
  sentence:
    "What a sync that may change pods writes of a Job that goes on says that it is suspended if and only if it is, and tells when it " +
    "was started if and only if it is not.",
  watch(world, violated): InvariantChecks {
    const ledger = jobLedgerOf(world);
    /** What the sync that is under way has written last, by its life and the Job's UID. */
    const written = new Map<string, StoredJob>();
    return {
      onChange(change) {
        ledger.onChange(change);
        const { resource, type, object, request } = change;
        if (resource === JOBS && type === "MODIFIED" && request?.component === JOB_CONTROLLER)
          written.set(`${lifeOf(request)} ${uidOf(object)}`, object);
      },
      onDecision(told) {
        if (told.controller !== JOB_CONTROLLER) return;
        const { uid, plan } = told.decision;
        const key = `${lifeOf({ ...told, component: JOB_CONTROLLER })} ${uid}`;
        const job = written.get(key);
        written.delete(key);
        if (job === undefined || plan.pods === undefined || isEnding(job)) return;
        // Nobody has changed the spec between, or the write would have been refused.
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
