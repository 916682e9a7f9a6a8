import { type Job, type VersionBehaviours, jobs } from "@kubewright/api";

import { type BuiltInResource, builtInResource } from "../../built-in-resource.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { applyJobDefaults } from "./defaults.js";
import {
  applyJobReadDefaults,
  prepareJobForCreate,
  prepareJobForUpdate,
  prepareJobStatusForUpdate,
} from "./preparation.js";
import { jobPrinter } from "./printer.js";
import { validateJobStatusUpdate } from "./status-validation.js";
import { validateJob, validateJobUpdate } from "./validation.js";
import { jobSpecWarnings, jobWarnings } from "./warnings.js";

/** Upstream: `pkg/registry/batch/job`. */
export function jobStrategy(behaviours: VersionBehaviours): ResourceStrategy<Job> {
  return {
    applyDefaults: applyJobDefaults,
    podTemplate: ({ spec }) => spec?.template,
    prepareForCreate: (job, context) => prepareJobForCreate(job, context, behaviours),
    validateCreate: (job, errors) => validateJob(job, errors),
    warningsOnCreate: jobWarnings,
    applyReadDefaults: applyJobReadDefaults,
    prepareForUpdate: prepareJobForUpdate,
    validateUpdate: (job, stored, errors) => validateJobUpdate(job, stored, errors, behaviours),
    warningsOnUpdate: (job, stored) => (jsonEqual(job.spec, stored.spec) ? [] : jobSpecWarnings(job.spec, "spec")),
    status: {
      prepareForUpdate: prepareJobStatusForUpdate,
      validateUpdate: (job, stored, errors) => validateJobStatusUpdate(job, stored, errors, behaviours),
    },
    bumpsGeneration: (job, stored) => !jsonEqual(job.spec, stored.spec),
    defaultPropagation: "Orphan",
    warningOnDefaultPropagation:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    fieldSelectors: { "status.successful": ({ status }) => String(status?.succeeded ?? 0) },
    printer: jobPrinter,
  };
}

export function jobResource(behaviours: VersionBehaviours): BuiltInResource {
  return builtInResource<Job>({
    definition: jobs,
    categories: ["all"],
    strategy: jobStrategy(behaviours),
  });
}
