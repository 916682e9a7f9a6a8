import type { Job, JobTemplateSpec } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { cronJob, job } from "../../test/objects.js";
import { madeByTemplate } from "./cron-template.js";

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

describe("S29 made by the template", () => {
  function accused(run: Job, by = "cronjob-controller", later: JobTemplateSpec = jobTemplate): readonly string[] {
    const history = new History(madeByTemplate);
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
    expect(accused(made({ backoffLimit: 6 }, { annotations: { ...annotations, other: "one" } }))).toEqual([]);
  });

  it.each([
    ["annotation team", made({}, {})],
    ["setting parallelism", made({ parallelism: 1 })],
    ["label of pods tier", made({ template: { ...template, metadata: {} } })],
    ["setting of pods restartPolicy", made({ template: { ...template, spec: { containers: [{ name: "c" }] } } })],
  ])("refuses another %s", (what, run) => {
    expect(accused(run)).toEqual([`Job default/tick-1: has another ${what} than the template that it is made by`]);
  });

  it("accepts what the template said before, and says nothing of what others make", () => {
    expect(accused(made(), "cronjob-controller", { spec: { parallelism: 5, template } })).toEqual([]);
    expect(accused(made({ parallelism: 1 }), "user")).toEqual([]);
  });
});
