import { isConditionTrue, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { StoredJob } from "./job-state.js";
import { lastWrittenOf } from "./last-written.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { JOBS, JOB_CONTROLLER, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Times in the API have a resolution of one second. */
const ROUNDING_MS = 1000;

/** Upstream: pkg/controller/job/job_controller.go syncJob, its handling of the condition Suspended. */
export const suspensionIsReported: Invariant = {
  name: "S25 suspension is reported",
  sentence:
    "The status that a sync writes for an unfinished Job says that it is suspended if and only if it is, and has a " +
    "startTime if and only if it is not. A sync that starts the Job sets a startTime no earlier than its own start.",
  watch(world, violated): InvariantChecks {
    const written = lastWrittenOf(world);
    /** Start times written by unfinished syncs, by incarnation of the controller and the Job's UID. */
    const started = new Map<string, string>();
    return {
      onChange(change) {
        const { resource, object, request } = change;
        if (resource !== JOBS || request?.component !== JOB_CONTROLLER) return;
        const [was, is] = [change.previous, object].map((job: StoredJob | undefined) => job?.status?.startTime);
        if (is != null && is !== was) started.set(`${incarnationKeyOf(request)} ${uidOf(object)}`, is);
      },
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const { plan, atMs, uid } = reported.decision;
        const job = written.ofSync;
        const key = `${incarnationKeyOf({ ...reported, component: JOB_CONTROLLER })} ${uid}`;
        const startedMs = parseTime(started.get(key));
        started.delete(key);
        if (job === undefined) return;
        const refuse = (message: string): void => violated(nameOf(job, "Job"), message);
        if (startedMs !== undefined && startedMs <= atMs - ROUNDING_MS && !clockMayBeWrong(world))
          refuse(`is said to have been started ${(atMs - startedMs) / 1000} s before the sync that started it`);
        if (plan.pods === undefined || isEnding(job)) return;
        const isSuspended = job.spec?.suspend === true;
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
