import {
  type ContainerStatus,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  type Job,
  type JobSpec,
  type JobStatus,
  type Pod,
  type PodCondition,
  deepFreeze,
  formatTime,
} from "@kubewright/api";
import { isPodReady } from "@kubewright/controller";

import { beginAccounting, finishAccounting } from "../src/account-pods.js";
import { intendedOutcome } from "../src/apply-pod-plan.js";
import { NO_BACKOFF } from "../src/backoff.js";
import type { JobObject, PodObject } from "../src/job-spec.js";
import { type JobInput, type JobPlan, planJob, recordsBeforeDeleting } from "../src/plan-job.js";
import { type PodOutcome, reconcileStatus } from "../src/reconcile-status.js";
import { type StatusDraft, statusOf } from "../src/status-draft.js";

export const T0 = Date.parse("2026-01-01T00:00:00Z");

/** Formats the time `seconds` after {@link T0}. */
export const at = (seconds: number): string => formatTime(T0 + seconds * 1000);

export const SELECTOR_LABELS = { "batch.kubernetes.io/controller-uid": "job-uid" };

/** A Job with the API server's defaults: Never, NonIndexed, backoffLimit 6. */
export function job(
  spec: Partial<JobSpec> = {},
  { status, ...metadata }: { status?: JobStatus } & Partial<Job["metadata"]> = {},
): JobObject {
  return deepFreeze<Job>({
    metadata: { name: "job", namespace: "ns", uid: "job-uid", generation: 1, resourceVersion: "1", ...metadata },
    spec: {
      parallelism: 1,
      backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed",
      selector: { matchLabels: SELECTOR_LABELS },
      template: {
        metadata: { labels: SELECTOR_LABELS },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] },
      },
      ...spec,
    },
    ...(status && { status }),
  });
}

export const indexed = (
  completions: number,
  spec: Partial<JobSpec> = {},
  meta: Parameters<typeof job>[1] = {},
): JobObject => job({ completionMode: "Indexed", completions, parallelism: completions, ...spec }, meta);

export interface PodOptions {
  readonly phase?: string;
  readonly index?: number | string;
  readonly tracked?: boolean;
  readonly ready?: boolean;
  readonly deletedAt?: number;
  readonly createdAt?: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  readonly container?: string;
  readonly restarts?: number;
  readonly node?: string;
  readonly failures?: number | string;
  readonly ignored?: number;
  readonly conditions?: PodCondition[];
  readonly owned?: boolean;
  readonly labels?: Record<string, string>;
}

/** A pod of {@link job}, by default running. Its UID is `uid-` and its name. */
export function pod(name: string, options: PodOptions = {}): PodObject {
  const {
    phase = "Running",
    index,
    tracked = true,
    ready = false,
    deletedAt,
    createdAt = 0,
    finishedAt,
    exitCode,
    restarts = 0,
    node,
    failures,
    ignored,
  } = options;
  const annotations: Record<string, string> = {};
  if (index !== undefined) annotations[JOB_COMPLETION_INDEX_ANNOTATION] = String(index);
  if (failures !== undefined) annotations[JOB_INDEX_FAILURE_COUNT_ANNOTATION] = String(failures);
  if (ignored !== undefined) annotations[JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION] = String(ignored);
  const ended = phase === "Failed" || phase === "Succeeded";
  const finished = finishedAt ?? (ended ? createdAt : undefined);
  const status: ContainerStatus = {
    name: options.container ?? "main",
    image: "",
    imageID: "",
    ready,
    restartCount: restarts,
    state:
      finished === undefined
        ? { running: {} }
        : { terminated: { exitCode: exitCode ?? (phase === "Failed" ? 1 : 0), finishedAt: at(finished) } },
  };
  const conditions: PodCondition[] = [...(options.conditions ?? [])];
  if (ready) conditions.push({ type: "Ready", status: "True", lastTransitionTime: at(createdAt) });
  return deepFreeze<Pod>({
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      resourceVersion: "1",
      creationTimestamp: at(createdAt),
      labels: options.labels ?? SELECTOR_LABELS,
      annotations,
      ...(tracked && { finalizers: [JOB_TRACKING_FINALIZER] }),
      ...((options.owned ?? true) && {
        ownerReferences: [
          {
            apiVersion: "batch/v1",
            kind: "Job",
            name: "job",
            uid: "job-uid",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      }),
      ...(deletedAt !== undefined && { deletionTimestamp: at(deletedAt), deletionGracePeriodSeconds: 0 }),
    },
    spec: { containers: [{ name: "main", image: "work:1" }], ...(node !== undefined && { nodeName: node }) },
    status: { phase, containerStatuses: [status], ...(conditions.length > 0 && { conditions }) },
  });
}

export const failed = (name: string, options: PodOptions = {}): PodObject => pod(name, { phase: "Failed", ...options });
export const succeeded = (name: string, options: PodOptions = {}): PodObject =>
  pod(name, { phase: "Succeeded", ...options });

export function plan(input: Pick<JobInput, "job" | "pods"> & Partial<JobInput>): JobPlan {
  return planJob({
    expectationsSatisfied: true,
    finalizersBeingRemoved: new Set(),
    backoff: NO_BACKOFF,
    nowMs: T0,
    ...input,
  });
}

export interface DryRun {
  readonly plan: JobPlan;
  /** The status written before finalizers are removed, if any. */
  readonly first?: JobStatus;
  /** Names of the pods whose finalizer is removed. */
  readonly finalizersRemoved: readonly string[];
  /** The status written afterwards, if any. */
  readonly second?: JobStatus;
  /** The final status. */
  readonly status: JobStatus;
  readonly suspension?: string;
}

/** Runs a whole sync without an API server. Every request succeeds, unless `refuse` names the pod. */
export function dryRun(
  input: Pick<JobInput, "job" | "pods"> & Partial<JobInput> & { refuse?: readonly string[] },
): DryRun {
  const { refuse = [], nowMs = T0 } = input;
  const jobPlan = plan(input);
  const deleted = jobPlan.end === undefined ? (jobPlan.pods?.remove ?? []) : jobPlan.observed.active;
  const deletedPods = deleted.filter(({ metadata }) => !refuse.includes(metadata.name!));
  const outcome: PodOutcome = {
    active:
      jobPlan.pods?.reportedActive ??
      jobPlan.observed.active.length - deletedPods.length + (jobPlan.pods?.create.length ?? 0),
    ready: jobPlan.observed.ready - deletedPods.filter(isPodReady).length,
    terminating: jobPlan.observed.terminating.length + deletedPods.length,
    undeleted: deleted.filter((pod) => !deletedPods.includes(pod)),
  };
  const known = recordsBeforeDeleting(jobPlan) ? intendedOutcome(jobPlan) : outcome;
  const reconciled = reconcileStatus(input.job, jobPlan, known, nowMs, input.behaviours);
  const accounting = beginAccounting(input.job, jobPlan, reconciled, nowMs, input.limits);
  const names = accounting.podsToRemoveFinalizer
    .filter((pod) => !outcome.undeleted.includes(pod))
    .map(({ metadata }) => metadata.name!);
  const finalizersRemoved = names.filter((name) => !refuse.includes(name));
  const finish = finishAccounting({
    draft: accounting.draft,
    accounting,
    plan: jobPlan,
    outcome,
    finalizerRemovedUIDs: new Set(finalizersRemoved.map((name) => `uid-${name}`)),
    finalizerRemovalFailed: finalizersRemoved.length < names.length,
    nowMs,
  });
  const wire = (draft: StatusDraft): JobStatus => statusOf(draft) as JobStatus;
  return {
    plan: jobPlan,
    ...(accounting.needsFlush && { first: wire(accounting.draft) }),
    finalizersRemoved,
    ...(finish.needsFlush && { second: wire(finish.draft) }),
    status: finish.needsFlush
      ? wire(finish.draft)
      : accounting.needsFlush
        ? wire(accounting.draft)
        : ((input.job.status ?? {}) as JobStatus),
    ...(reconciled.suspension && { suspension: reconciled.suspension }),
  };
}

/** Formats each condition as `type=status reason`. */
export const conditionsOf = (status: JobStatus | undefined): string[] =>
  (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
