import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  type Job,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
  type VersionBehaviours,
} from "@kubewright/api";

import type { CreateContext } from "../../strategy.js";

/**
 * Clears the status and, unless `manualSelector` is set, generates the template's labels and the selector.
 *
 * Whether a Job without labels gets the generated labels depends on object identity (see `applyJobDefaults`), as
 * upstream:
 *
 * - With a given name, the Job's labels are the template's map itself.
 * - With a generated name, they are a copy from before the generation.
 * - If the template had no labels either, they are set when the stored object is read.
 *
 * Upstream: `jobStrategy.PrepareForCreate`, `generateSelector`.
 */
export function prepareJobForCreate(
  job: Job,
  { nameGenerated = false }: CreateContext,
  { jobManagedBy }: VersionBehaviours,
): void {
  const { metadata, spec } = job;
  metadata.generation = 1;
  job.status = {};
  if (spec === undefined) return;
  // Only create drops the field. An update that adds it is refused, because the field is immutable.
  if (!jobManagedBy) delete spec.managedBy;
  const template = (spec.template ??= { metadata: {}, spec: { containers: [] } });
  const templateMetadata = (template.metadata ??= {});
  const sharesTemplateLabels =
    metadata.labels !== undefined && metadata.labels === templateMetadata.labels && !nameGenerated;
  if (metadata.labels !== undefined) metadata.labels = { ...metadata.labels };
  if (spec.manualSelector !== true) {
    const { name = "", uid = "" } = metadata;
    const labels = { ...templateMetadata.labels };
    for (const [key, value] of [
      [LEGACY_JOB_NAME_LABEL, name],
      [JOB_NAME_LABEL, name],
      [LEGACY_CONTROLLER_UID_LABEL, uid],
      [CONTROLLER_UID_LABEL, uid],
    ] as const) {
      if (!Object.hasOwn(labels, key)) labels[key] = value;
    }
    templateMetadata.labels = labels;
    const selector = (spec.selector ??= {});
    const matchLabels = (selector.matchLabels ??= {});
    if (!Object.hasOwn(matchLabels, CONTROLLER_UID_LABEL)) matchLabels[CONTROLLER_UID_LABEL] = uid;
  }
  if (sharesTemplateLabels && templateMetadata.labels !== undefined) metadata.labels = { ...templateMetadata.labels };
}

/**
 * Gives a Job that is stored without labels its template's labels, including generated ones, on each read. Returns
 * whether the labels were added.
 */
export function applyJobReadDefaults({ metadata, spec }: Job): boolean {
  const labels = spec?.template?.metadata?.labels;
  if (labels === undefined || Object.keys(metadata.labels ?? {}).length > 0) return false;
  metadata.labels = { ...labels };
  return true;
}

/** Keeps the stored status, which has a separate endpoint. Upstream: `jobStrategy.PrepareForUpdate`. */
export function prepareJobForUpdate(job: Job, stored: Job): void {
  copySharedLabels(job);
  if (stored.status === undefined) delete job.status;
  else job.status = stored.status;
}

/** Keeps the stored spec. A status update may change metadata. Upstream: `jobStatusStrategy.PrepareForUpdate`. */
export function prepareJobStatusForUpdate(job: Job, stored: Job): void {
  copySharedLabels(job);
  if (stored.spec === undefined) delete job.spec;
  else job.spec = stored.spec;
}

/** Copies the Job's labels when defaulting made them the same object as the template's labels. */
function copySharedLabels({ metadata, spec }: Job): void {
  if (metadata.labels !== undefined && metadata.labels === spec?.template?.metadata?.labels)
    metadata.labels = { ...metadata.labels };
}
