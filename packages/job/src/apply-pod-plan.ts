import { jobs, newControllerRef, apiVersionOf } from "@kubewright/api";
import { errorMessage, hasStatusCause, isNotFound } from "@kubewright/client";
import { isPodReady, slowStartBatch } from "@kubewright/controller";

import type { PodCreationReason } from "./job-metrics.js";
import { type JobObject, type PodObject, replacesOnlyFailedPods } from "./job-spec.js";
import { type JobPlan, recordsBeforeDeleting } from "./plan-job.js";
import { type PodToCreate, indexedPodGenerateName, podTemplateOf } from "./pod-template.js";
import type { PodOutcome } from "./reconcile-status.js";
import type { JobSync, JobSyncDeps } from "./sync-deps.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

const INITIAL_BATCH_SIZE = 1;

/** The fields of a sync that these functions use. */
export interface PodPlanSync extends Pick<JobSync, "key" | "job" | "plan" | "signal"> {
  readonly deps: Pick<JobSyncDeps, "podControl" | "memory" | "metrics">;
}

/**
 * Returns whether the plan neither deletes nor creates pods before the status is written. A plan with action
 * `pods_created` and no pods to create still sets an expectation, of zero creations.
 */
function leavesPods(plan: JobPlan): boolean {
  const { end, observed, pods } = plan;
  if (end !== undefined) return observed.active.length === 0 || recordsBeforeDeleting(plan);
  return pods === undefined || pods.action === "tracking" || pods.retryAfterMs !== undefined;
}

/** Deletes and creates the pods of the plan. Errors of the API server are part of the outcome and are not thrown. */
export function applyPodPlan(sync: PodPlanSync): PodOutcome | Promise<PodOutcome> {
  const { plan } = sync;
  if (leavesPods(plan)) return intendedOutcome(plan);
  if (plan.pods === undefined) return deleteActivePods(sync);
  if (plan.pods.action === "pods_deleted") return removePods(sync, plan.pods.remove);
  // Also for zero pods: the plan has such an action only if the previous expectation is met.
  return createPods(sync, plan.pods.create);
}

/** Returns the outcome if every request succeeds. */
export function intendedOutcome(plan: JobPlan): PodOutcome {
  const deleted = plan.end === undefined ? (plan.pods?.remove ?? []) : plan.observed.active;
  const left = withDeletions(plan, { deleted, undeleted: [] });
  return { ...left, active: plan.pods?.reportedActive ?? left.active + (plan.pods?.create.length ?? 0) };
}

function observedPods({ observed }: JobPlan): PodOutcome {
  return {
    active: observed.active.length,
    ready: observed.ready,
    terminating: observed.terminating.length,
    undeleted: [],
  };
}

interface Deletions {
  readonly deleted: readonly PodObject[];
  readonly undeleted: readonly PodObject[];
  readonly error?: unknown;
}

/**
 * Deletes all active pods of a Job that ends. They keep their finalizer until they are counted.
 *
 * Upstream: job_controller.go deleteActivePods.
 */
export async function deleteActivePods(sync: PodPlanSync): Promise<PodOutcome> {
  const { plan } = sync;
  return withDeletions(plan, await deleteAll(plan.observed.active, (pod) => deleteOne(sync, pod)));
}

/**
 * Deletes surplus pods of the Job. Their finalizer is removed first, so that they are never counted.
 *
 * Upstream: job_controller.go deleteJobPods.
 */
async function removePods(sync: PodPlanSync, pods: readonly PodObject[]): Promise<PodOutcome> {
  const { key, plan, deps } = sync;
  const { expectations } = deps.memory;
  expectations.expectDeletions(key, pods.length);
  const deletions = await deleteAll(pods, async (pod) => {
    try {
      await removeFinalizerAndDelete(sync, pod);
    } catch (error) {
      // Also for a pod that is already deleted: its event may have arrived before the expectation was set.
      expectations.deletionObserved(key);
      throw error;
    }
  });
  return withDeletions(plan, deletions);
}

async function deleteOne({ job, deps, signal }: PodPlanSync, pod: PodObject): Promise<void> {
  await deps.podControl.deletePod(pod.metadata.namespace ?? "", pod.metadata.name ?? "", job, jobs, signal);
}

/** Removes the finalizer before the deletion. If the controller crashes in between, the pod is never counted. */
async function removeFinalizerAndDelete(sync: PodPlanSync, pod: PodObject): Promise<void> {
  try {
    await removeTrackingFinalizer(sync.deps.podControl, pod, sync.signal);
  } catch (error) {
    if (isNotFound(error)) throw error;
    throw new Error(`removing completion finalizer: ${errorMessage(error)}`, { cause: error });
  }
  await deleteOne(sync, pod);
}

/** Deletes all pods concurrently. A missing pod counts as deleted. */
async function deleteAll(pods: readonly PodObject[], remove: (pod: PodObject) => Promise<void>): Promise<Deletions> {
  const outcomes = await Promise.allSettled(pods.map(remove));
  const isDeleted = (outcome: PromiseSettledResult<void>): boolean =>
    outcome.status === "fulfilled" || isNotFound(outcome.reason);
  const deleted = pods.filter((_, position) => isDeleted(outcomes[position]!));
  const undeleted = pods.filter((_, position) => !isDeleted(outcomes[position]!));
  const failed = outcomes.find((outcome) => !isDeleted(outcome)) as PromiseRejectedResult | undefined;
  return { deleted, undeleted, ...(failed !== undefined && { error: failed.reason as unknown }) };
}

function withDeletions(plan: JobPlan, { deleted, undeleted, error }: Deletions): PodOutcome {
  const before = observedPods(plan);
  return {
    active: before.active - deleted.length,
    ready: before.ready - deleted.filter(isPodReady).length,
    terminating: before.terminating + deleted.length,
    undeleted,
    ...(error !== undefined && { error }),
  };
}

/** Creates pods. Upstream: job_controller.go manageJob, its creations. */
async function createPods(
  { key, job, plan, deps, signal }: PodPlanSync,
  pods: readonly PodToCreate[],
): Promise<PodOutcome> {
  const { podControl, memory, metrics } = deps;
  const { expectations } = memory;
  const reason = creationReason(job, plan);
  const controllerRef = newControllerRef(job, { apiVersion: apiVersionOf(jobs), kind: jobs.kind });
  const { namespace = "", name = "" } = job.metadata;
  expectations.expectCreations(key, pods.length);
  const { successes, attempted, error } = await slowStartBatch(pods.length, INITIAL_BATCH_SIZE, async (position) => {
    const pod = pods[position]!;
    const generateName = pod.index === undefined ? undefined : indexedPodGenerateName(name, pod.index);
    const template = podTemplateOf(job, pod);
    try {
      await podControl.createPod(
        { namespace, template, owner: job, ownerDefinition: jobs, controllerRef, generateName },
        signal,
      );
    } catch (creationError) {
      // The expectation stays, as upstream: it prevents the controller from retrying continuously.
      if (hasStatusCause(creationError, "NamespaceTerminating")) return;
      expectations.creationObserved(key);
      metrics.podCreated({ reason, status: "failed" });
      throw creationError;
    }
    metrics.podCreated({ reason, status: "succeeded" });
  });
  const skipped = pods.length - attempted;
  if (skipped > 0) expectations.lowerExpectations(key, skipped, 0);
  const before = observedPods(plan);
  return { ...before, active: before.active + successes, ...(error !== undefined && { error }) };
}

function creationReason(job: JobObject, { observed }: JobPlan): PodCreationReason {
  if (observed.failed > 0 && replacesOnlyFailedPods(job)) return "recreate_failed";
  return observed.failed > 0 || observed.terminating.length > 0 ? "recreate_terminating_or_failed" : "new";
}
