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
 * Clears the status and, unless the user selects pods by hand, generates the template's labels and the selector.
 *
 * Whether a Job without labels of its own ends up with the generated ones depends on identity (`applyJobDefaults`):
 * upstream does nothing about them, but with a given name the Job's labels are the template's map itself, with a
 * generated name they are a copy from before, and if the template had none either, they are filled in when the stored
 * object is read.
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
  // An update that brings it is not relieved of it, and refused: the field never changes.
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
 * A Job that was stored without labels has its template's, generated ones included, whenever it is read. Answers whether
 * this is one.
 */
export function applyJobReadDefaults({ metadata, spec }: Job): boolean {
  const labels = spec?.template?.metadata?.labels;
  if (labels === undefined || Object.keys(metadata.labels ?? {}).length > 0) return false;
  metadata.labels = { ...labels };
  return true;
}

/** The status has an endpoint of its own. Upstream: `jobStrategy.PrepareForUpdate`. */
export function prepareJobForUpdate(job: Job, stored: Job): void {
  copySharedLabels(job);
  if (stored.status === undefined) delete job.status;
  else job.status = stored.status;
}

/** Metadata may be changed along with the status. Upstream: `jobStatusStrategy.PrepareForUpdate`. */
export function prepareJobStatusForUpdate(job: Job, stored: Job): void {
  copySharedLabels(job);
  if (stored.spec === undefined) delete job.spec;
  else job.spec = stored.spec;
}

/** The defaults may have made the template's labels the Job's, too. */
function copySharedLabels({ metadata, spec }: Job): void {
  if (metadata.labels !== undefined && metadata.labels === spec?.template?.metadata?.labels)
    metadata.labels = { ...metadata.labels };
}
