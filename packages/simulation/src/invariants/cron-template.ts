import type { Job } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { Stored } from "../world.js";
import { type CronJobSpec, cronLedgerOf } from "./cron-ledger.js";
import { CRON_JOB_CONTROLLER, JOBS, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/cronjob/utils.go getJobFromTemplate2. */
export const madeByTemplate: Invariant = {
  name: "S29 made by the template",
  sentence:
    "What a CronJob creates has the labels, annotations and settings of its template, and so have its pods, as it is or was before.",
  watch(world, violated): InvariantChecks {
    const ledger = cronLedgerOf(world);
    return {
      onChange(change) {
        const { request, type, resource, object } = change;
        if (resource !== JOBS || type !== "ADDED" || request?.component !== CRON_JOB_CONTROLLER) return;
        const owner = ledger.runs.get(uidOf(object))?.owner;
        if (owner === undefined || owner.specs.length === 0) return;
        const differences = owner.specs.map((spec) => whatDiffers(object, spec));
        if (differences.every((difference) => difference !== undefined))
          violated(nameOf(object, "Job"), `has another ${differences.at(-1)} than the template that it is made by`);
      },
    };
  },
};

function whatDiffers({ metadata, spec }: Stored<Job>, { jobTemplate }: CronJobSpec): string | undefined {
  const { template: podTemplate, ...settings } = jobTemplate.spec ?? {};
  const { template: pods, ...rest } = spec ?? {};
  return (
    lacking(metadata.labels, jobTemplate.metadata?.labels, "label") ??
    lacking(metadata.annotations, jobTemplate.metadata?.annotations, "annotation") ??
    lacking(rest, settings, "setting") ??
    lacking(pods?.metadata?.labels, podTemplate?.metadata?.labels, "label of pods") ??
    lacking(pods?.spec, podTemplate?.spec, "setting of pods")
  );
}

/** Members that are more than a text, a number or a truth value may get defaults of their own. */
function lacking(is: object | undefined, asked: object | undefined, what: string): string | undefined {
  const has = new Map<string, unknown>(Object.entries(is ?? {}));
  for (const [name, value] of Object.entries(asked ?? {}))
    if (value !== null && typeof value !== "object" && has.get(name) !== value) return `${what} ${name}`;
  return undefined;
}
