import type { Invariant, InvariantChecks } from "../invariant.js";
import { jobRecordsOf } from "./job-records.js";
import type { StoredJob } from "./job-state.js";
import { JOBS, JOB_CONTROLLER, PODS, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go syncJob, its check of spec.managedBy. */
export const managedByIsRespected: Invariant = {
  name: "S26 managedBy is respected",
  sentence: "The Job controller neither writes to a Job that another controller manages nor creates pods for it.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    return {
      onChange(change) {
        const { resource, type, object, request } = change;
        if (request?.component !== JOB_CONTROLLER) return;
        if (resource === JOBS && type === "MODIFIED" && isManagedElsewhere(object))
          violated(nameOf(object, "Job"), "is changed, and another controller manages it");
        const owner = resource === PODS && type === "ADDED" ? records.pods.get(uidOf(object))?.job?.object : undefined;
        if (owner !== undefined && isManagedElsewhere(owner))
          violated(nameOf(owner, "Job"), `gets ${nameOf(object, "Pod")}, and another controller manages it`);
      },
    };
  },
};

function isManagedElsewhere({ spec }: StoredJob): boolean {
  return spec?.managedBy != null && spec.managedBy !== "kubernetes.io/job-controller";
}
