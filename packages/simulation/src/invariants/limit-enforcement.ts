import type { DeepReadonly, Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";

import type { Invariant, InvariantChecks } from "../invariant.js";
import { IndexSet } from "./index-set.js";
import { jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  type StoredJobSpec,
  hasEnded,
  hasFailed,
  isIndexed,
  policyAction,
  restartsOf,
} from "./job-state.js";
import { lastWrittenOf, problemInEverySpec } from "./last-written.js";
import { JOB_CONTROLLER, nameOf } from "./stored-objects.js";

/** The converse of S6. Upstream: pkg/controller/job/job_controller.go syncJob, its finishedCondition. */
export const limitsAreEnforced: Invariant = {
  name: "S24 limits are enforced",
  sentence:
    "A sync that observes, or writes to the status, that a limit of its Job is exceeded, that the failure policy fails it, or " +
    "that its success policy is met, ends the Job, possibly later; a Job that has failed does not succeed by its policy.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const written = lastWrittenOf(world);
    return {
      onDecision(reported) {
        if (reported.controller !== JOB_CONTROLLER) return;
        const { uid, plan } = reported.decision;
        const known = written.ofSync;
        const job = records.jobs.get(uid);
        const { end, observed } = plan;
        if (job === undefined || end?.recorded === true || end?.type === "FailureTarget") return;
        const wrong = problemInEverySpec(
          known,
          job,
          (spec) =>
            failureReason(spec, observed.pods, known?.status) ??
            (end === undefined ? successReason(spec, known?.status) : undefined),
        );
        if (wrong !== undefined)
          violated(nameOf(job.object, "Job"), `${end === undefined ? "is unfinished" : "succeeds"}, though ${wrong}`);
      },
    };
  },
};

type ObservedPods = JobDecision["plan"]["observed"]["pods"];

/**
 * Explains why a Job with that spec, those pods and that status has failed. Failures are evaluated before successes.
 */
function failureReason(spec: StoredJobSpec, pods: ObservedPods, status: StoredJob["status"]): string | undefined {
  const failing = pods.find((pod) => hasFailed(pod) && policyAction(spec.podFailurePolicy, pod) === "FailJob");
  if (failing !== undefined) return `${nameOf(failing, "Pod")} has failed as its policy fails it for`;
  return restartLimitReason(spec, pods) ?? (status == null ? undefined : failureLimitReason(spec, status));
}

function restartLimitReason(spec: StoredJobSpec, pods: readonly DeepReadonly<Pod>[]): string | undefined {
  if (spec.template.spec?.restartPolicy !== "OnFailure") return undefined;
  let restarts = 0;
  for (const pod of pods) if (!hasEnded(pod)) restarts += restartsOf(pod);
  const limit = spec.backoffLimit ?? 6;
  return restarts > 0 && restarts >= limit
    ? `containers have been started again ${restarts} times, and backoffLimit is ${limit}`
    : undefined;
}

function failureLimitReason(spec: StoredJobSpec, status: NonNullable<StoredJob["status"]>): string | undefined {
  const failures = (status.failed ?? 0) + (status.uncountedTerminatedPods?.failed?.length ?? 0);
  const limit = spec.backoffLimit ?? (spec.backoffLimitPerIndex == null ? 6 : Infinity);
  if (failures > limit) return `${failures} pods have failed, and backoffLimit is ${limit}`;
  if (!isIndexed(spec) || spec.backoffLimitPerIndex == null) return undefined;
  const completions = spec.completions ?? 0;
  const failed = new IndexSet(status.failedIndexes).sizeBelow(completions);
  const max = spec.maxFailedIndexes ?? Infinity;
  if (failed > max) return `${failed} indexes have failed, and maxFailedIndexes is ${max}`;
  return failed > 0 && failed + new IndexSet(status.completedIndexes).sizeBelow(completions) >= completions
    ? `all indexes have ended, ${failed} of them failed`
    : undefined;
}

function successReason(spec: StoredJobSpec, status: StoredJob["status"]): string | undefined {
  if (status == null || !isIndexed(spec)) return undefined;
  const completions = spec.completions ?? 0;
  const succeeded = new IndexSet(status.completedIndexes);
  const rule = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes == null) return succeeded.sizeBelow(completions) >= (succeededCount ?? Infinity);
    const required = new IndexSet(succeededIndexes);
    const max = required.sizeBelow(completions);
    const met = required.countBelow(completions, (index) => succeeded.has(index));
    return met > 0 && met >= Math.min(max, succeededCount ?? Infinity);
  });
  return rule < 0 ? undefined : `rule ${rule} of its success policy is met`;
}
