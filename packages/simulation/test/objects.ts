import {
  type CronJob,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  type Job,
  type JobCondition,
  type JobSpec,
  type JobStatus,
  type Pod,
  type PodStatus,
} from "@kubewright/api";

const template = { spec: { containers: [{ name: "main", image: "main" }], restartPolicy: "Never" } };

export function job(status: JobStatus = {}, spec: Partial<JobSpec> = {}, name = "pi"): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name, uid: `uid-of-${name}` },
    spec: {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      selector: { matchLabels: labels(name) },
      template,
      ...spec,
    },
    status,
  };
}

/** Labels by which a Job selects its pods. */
function labels(job: string): Record<string, string> {
  return { "batch.kubernetes.io/controller-uid": `uid-of-${job}` };
}

export interface PodParts {
  readonly name?: string;
  readonly of?: string;
  readonly status?: PodStatus;
  readonly tracked?: boolean;
  readonly index?: number;
  readonly metadata?: Partial<Pod["metadata"]>;
}

/** Returns a pod of the Job `pi`; by default running and with the tracking finalizer. */
export function pod(
  phase = "Running",
  { name = "a", of = "pi", status, tracked = true, index, metadata }: PodParts = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: "default",
      name,
      uid: `uid-of-${name}`,
      labels: labels(of),
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: of, uid: `uid-of-${of}`, controller: true }],
      ...(tracked ? { finalizers: [JOB_TRACKING_FINALIZER] } : {}),
      ...(index === undefined ? {} : { annotations: { [JOB_COMPLETION_INDEX_ANNOTATION]: `${index}` } }),
      ...metadata,
    },
    status: { phase, ...status },
  };
}

export function condition(type: string, reason = "", at?: number): JobCondition {
  return {
    type,
    status: "True",
    reason,
    ...(at === undefined ? {} : { lastTransitionTime: new Date(at).toISOString() }),
  };
}

export function cronJob(spec: Partial<NonNullable<CronJob["spec"]>> = {}, status: CronJob["status"] = {}): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { namespace: "default", name: "tick", uid: "uid-of-tick" },
    spec: { schedule: "* * * * *", jobTemplate: { spec: { template } }, ...spec },
    status,
  };
}
