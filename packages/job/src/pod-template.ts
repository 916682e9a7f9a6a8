import {
  type Container,
  type DeepReadonly,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  type PodTemplateSpec,
} from "@kubewright/api";

import type { IndexFailureCounts } from "./index-failure-counts.js";
import { type JobObject, specOf } from "./job-spec.js";

const COMPLETION_INDEX_ENV = "JOB_COMPLETION_INDEX";

/** Length of a generated name's base that the API server keeps, before five random characters. */
const MAX_GENERATED_NAME_BASE = 58;

/** One pod to create. */
export interface PodToCreate {
  /** Only for an indexed Job. */
  readonly index?: number;
  /** Only for a Job with `backoffLimitPerIndex`. */
  readonly failureCounts?: IndexFailureCounts;
}

/**
 * Returns the Job's pod template with the additions for its pods: the tracking finalizer, and for an indexed pod its
 * index.
 *
 * Upstream: job_controller.go managePod, indexed_job_utils.go addCompletionIndexEnvVariables.
 */
export function podTemplateOf(job: JobObject, { index, failureCounts }: PodToCreate): DeepReadonly<PodTemplateSpec> {
  const { metadata, spec } = specOf(job).template;
  const finalizers = metadata?.finalizers ?? [];
  const tracked = finalizers.includes(JOB_TRACKING_FINALIZER) ? finalizers : [...finalizers, JOB_TRACKING_FINALIZER];
  if (index === undefined || spec === undefined)
    return { metadata: { ...metadata, finalizers: tracked }, ...(spec && { spec }) };

  const indexMark = { [JOB_COMPLETION_INDEX_ANNOTATION]: String(index) };
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata?.labels, ...indexMark },
      annotations: { ...metadata?.annotations, ...indexMark, ...failureCountAnnotations(failureCounts) },
      finalizers: tracked,
    },
    spec: {
      ...spec,
      hostname: `${job.metadata.name}-${index}`,
      containers: (spec.containers ?? []).map(withIndexVariable),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndexVariable) }),
    },
  };
}

/**
 * Returns the name base for the pod of an index. The Job name is cut, so that the API server's own cut does not remove
 * the index.
 *
 * Upstream: indexed_job_utils.go podGenerateNameWithIndex.
 */
export function indexedPodGenerateName(jobName: string, index: number): string {
  const suffix = `-${index}-`;
  return jobName.slice(0, Math.max(0, MAX_GENERATED_NAME_BASE - suffix.length)) + suffix;
}

function failureCountAnnotations(counts: IndexFailureCounts | undefined): Record<string, string> {
  if (counts === undefined) return {};
  return {
    [JOB_INDEX_FAILURE_COUNT_ANNOTATION]: String(counts.failures),
    ...(counts.ignored > 0 && { [JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]: String(counts.ignored) }),
  };
}

function withIndexVariable(container: DeepReadonly<Container>): DeepReadonly<Container> {
  if (container.env?.some(({ name }) => name === COMPLETION_INDEX_ENV)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${JOB_COMPLETION_INDEX_ANNOTATION}']` };
  return { ...container, env: [...(container.env ?? []), { name: COMPLETION_INDEX_ENV, valueFrom: { fieldRef } }] };
}
