import { type CronJob, type DeepReadonly, type Job, cronJobs, formatTime, jobs, mutableCopy } from "@kubewright/api";

import { ControllerHarness } from "../../controller/test/controller-harness.js";

export const NAMESPACE = "default";

export class Harness extends ControllerHarness {
  constructor(start = "2026-03-02T09:59:30Z") {
    super({ start });
  }

  get cronJobs() {
    return this.admin.resource(cronJobs);
  }

  get jobs() {
    return this.admin.resource(jobs);
  }

  async createCronJob(spec: Partial<NonNullable<CronJob["spec"]>> = {}, name = "n"): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.create({
      metadata: { name, namespace: NAMESPACE },
      spec: { schedule: "0 * * * *", jobTemplate: { spec: jobSpec() }, ...spec },
    });
  }

  getCronJob(name = "n"): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.get(name, { namespace: NAMESPACE });
  }

  setStatus(cronJob: DeepReadonly<CronJob>, status: NonNullable<CronJob["status"]>): Promise<DeepReadonly<CronJob>> {
    return this.cronJobs.updateStatus({ ...cronJob, status });
  }

  /** Creates a Job that a CronJob, or another given object, controls. */
  async createJob(
    name: string,
    owner: { readonly metadata: { readonly name?: string; readonly uid?: string } } | undefined,
    kind = "CronJob",
  ) {
    const ownerReferences =
      owner === undefined
        ? []
        : [
            {
              apiVersion: "batch/v1",
              kind,
              name: owner.metadata.name ?? "",
              uid: owner.metadata.uid ?? "",
              controller: true,
            },
          ];
    return this.jobs.create({ metadata: { name, namespace: NAMESPACE, ownerReferences }, spec: jobSpec() });
  }

  /** Finishes a Job as the Job controller would. */
  async finishJob(
    name: string,
    type: "Complete" | "Failed" = "Complete",
    times: { start?: string; end?: string } = {},
  ) {
    const job = mutableCopy(await this.jobs.get(name, { namespace: NAMESPACE })) as Job;
    const now = formatTime(this.clock.now());
    const { start = now, end = now } = times;
    const before = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    job.status = {
      startTime: start,
      ...(type === "Complete" ? { completionTime: end } : {}),
      conditions: [before, type].map((each) => ({ type: each, status: "True" })),
    };
    return this.jobs.updateStatus(job);
  }

  async jobNames(): Promise<(string | undefined)[]> {
    const { items } = await this.jobs.list({ namespace: NAMESPACE });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  }
}

export function jobSpec(): NonNullable<Job["spec"]> {
  return { template: { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } } };
}

/** Returns a time of day on the date of all tests. */
export function at(time: string): number {
  return Date.parse(`2026-03-02T${time}Z`);
}
