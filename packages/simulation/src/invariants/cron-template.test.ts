import { CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION, type Job, type JobTemplateSpec } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { cronJob, job } from "../../test/objects.js";
import { jobsMatchTemplate } from "./cron-template.js";

const annotations = { team: "blue" };
const template = {
  metadata: { labels: { tier: "runs" } },
  spec: { restartPolicy: "Never", containers: [{ name: "c" }] },
};
const jobTemplate = { metadata: { annotations }, spec: { parallelism: 2, template } };

function made(spec: Partial<Job["spec"]> = {}, metadata: Partial<Job["metadata"]> = { annotations }): Job {
  const run = job({}, { parallelism: 2, template, ...spec }, "tick-1");
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
  return { ...run, metadata: { ...run.metadata, ...metadata, ownerReferences: [owner] } };
}

describe("S29 Jobs match the template", () => {
  function reported(run: Job, by = "cronjob-controller", later: JobTemplateSpec = jobTemplate): readonly string[] {
    const history = new History(jobsMatchTemplate);
    const tick = cronJob({ jobTemplate });
    history.store(tick);
    if (later !== jobTemplate)
      history.store({
        ...tick,
        metadata: { ...tick.metadata, generation: 2 },
        spec: { ...tick.spec, jobTemplate: later },
      });
    history.store(run, by);
    return history.violations;
  }

  it("accepts what is as the template says, and has more", () => {
    expect(reported(made({ backoffLimit: 6 }, { annotations: { ...annotations, other: "one" } }))).toEqual([]);
  });

  it.each([
    ["annotation team", made({}, {})],
    ["setting parallelism", made({ parallelism: 1 })],
    ["label of pods tier", made({ template: { ...template, metadata: {} } })],
    ["setting of pods restartPolicy", made({ template: { ...template, spec: { containers: [{ name: "c" }] } } })],
  ])("refuses another %s", (what, run) => {
    expect(reported(run)).toEqual([`Job default/tick-1: has another ${what} than the template that it is made by`]);
  });

  it("requires the slot in the CronJob's time zone, and in UTC where it has none", () => {
    const reported = (slot: string, timeZone?: string): readonly string[] => {
      const history = new History(jobsMatchTemplate);
      history.store(cronJob({ jobTemplate, ...(timeZone === undefined ? {} : { timeZone }) }));
      const dated = { ...annotations, [CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION]: slot };
      history.store(made({}, { annotations: dated }), "cronjob-controller");
      return history.violations;
    };
    const right: readonly (readonly [string, string?])[] = [
      ["2026-03-02T11:00:00+01:00", "Europe/Berlin"],
      ["2026-03-02T15:30:00+05:30", "Asia/Kolkata"],
      ["2026-03-02T05:00:00-05:00", "America/New_York"],
      ["2026-03-02T10:00:00Z"],
    ];
    for (const each of right) expect(reported(...each)).toEqual([]);
    const wrong: readonly (readonly [string, string?])[] = [
      ["2026-03-02T10:00:00Z", "Europe/Berlin"],
      ["2026-03-02T12:00:00+02:00", "Europe/Berlin"],
      ["2026-03-02T11:00:00+01:00"],
    ];
    for (const each of wrong)
      expect(reported(...each)).toEqual([
        "Job default/tick-1: has another time zone of its slot than the template that it is made by",
      ]);
  });

  it("accepts what the template said before, and says nothing of what others make", () => {
    expect(reported(made(), "cronjob-controller", { spec: { parallelism: 5, template } })).toEqual([]);
    expect(reported(made({ parallelism: 1 }), "user")).toEqual([]);
  });
});
