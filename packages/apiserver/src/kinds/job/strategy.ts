import { type Job, jobs } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../../built-in-resource.js";
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
export const jobStrategy: ResourceStrategy<Job> = {
  applyDefaults: applyJobDefaults,
  podTemplate: ({ spec }) => spec?.template,
  prepareForCreate: prepareJobForCreate,
  validateCreate: (job, errors) => validateJob(job, errors),
  warningsOnCreate: jobWarnings,
  applyReadDefaults: applyJobReadDefaults,
  prepareForUpdate: prepareJobForUpdate,
  validateUpdate: validateJobUpdate,
  warningsOnUpdate: (job, stored) => (jsonEqual(job.spec, stored.spec) ? [] : jobSpecWarnings(job.spec, "spec")),
  status: { prepareForUpdate: prepareJobStatusForUpdate, validateUpdate: validateJobStatusUpdate },
  bumpsGeneration: (job, stored) => !jsonEqual(job.spec, stored.spec),
  defaultPropagation: "Orphan",
  warningOnDefaultPropagation:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  fieldSelectors: { "status.successful": ({ status }) => String(status?.succeeded ?? 0) },
  printer: jobPrinter,
};

export const jobResource = builtInResource<Job>({
  definition: jobs,
  singular: "job",
  categories: ["all"],
  listKind: "JobList",
  verbs: standardVerbs,
  strategy: jobStrategy,
});
