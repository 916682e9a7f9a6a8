import { describe, expect, test } from "vitest";

import { ScenarioText } from "../../playground/page/scenario/scenario-text.ts";
import { subjectsIn } from "../../playground/page/scenario/subjects.ts";

const HEAD = "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n";
const report = { kind: "CronJob", namespace: "default", name: "report" };

describe("the text of a scenario", () => {
  test("is created with the first setting, and removed with the last", () => {
    const text = new ScenarioText("").withField("for", "7d");
    expect(text).toBe(`${HEAD}for: 7d\n`);
    expect(new ScenarioText(text).field("for")).toBe("7d");
    expect(new ScenarioText(text).isPlain).toBe(true);
    expect(new ScenarioText(text).withField("for", "")).toBe("");
  });

  test("keeps comments and fields unknown to the forms", () => {
    const text = `# mine\n${HEAD}jitter: { requests: 1s } # slow\nfor: 1d\n`;
    expect(new ScenarioText(text).withField("seed", "7")).toBe(`${text}seed: 7\n`);
    expect(new ScenarioText(text).isPlain).toBe(false);
  });

  test("lists, adds, changes and removes events", () => {
    const first = new ScenarioText("").withScenarioEvent(0, {
      at: "+6h",
      for: "2h",
      kind: "apiServerDown",
      value: "all",
    });
    expect(first).toBe(`${HEAD}events:\n  - at: +6h\n    for: 2h\n    apiServerDown: all\n`);
    const suspend = { at: "+1h", for: "", kind: "suspend", value: { kind: "CronJob", name: "report" } };
    const second = new ScenarioText(first).withScenarioEvent(1, suspend);
    expect(second).toBe(`${first}  - at: +1h\n    suspend: { kind: CronJob, name: report }\n`);
    expect(new ScenarioText(second).events[1]).toEqual(suspend);
    const changed = new ScenarioText(second).withScenarioEvent(0, {
      at: "+7h",
      for: "",
      kind: "nodeLost",
      value: "node-1",
    });
    expect(new ScenarioText(changed).events).toEqual([
      { at: "+7h", for: "", kind: "nodeLost", value: "node-1" },
      suspend,
    ]);
    expect(new ScenarioText(new ScenarioText(changed).withoutScenarioEvent(0)).withoutScenarioEvent(0)).toBe("");
  });

  test("gives durations and failure rates of workloads", () => {
    const text = new ScenarioText("").withWorkload(report, { duration: "30m..62m", failsPercent: "12.5" });
    expect(text).toBe(
      `${HEAD}workloads:\n  - select: { kind: CronJob, name: report }\n    duration: 30m..62m\n    exitCode: { 0: 0.875, 1: 0.125 }\n`,
    );
    expect(new ScenarioText(text).workload(report)).toEqual({ duration: "30m..62m", failsPercent: "12.5" });
    expect(new ScenarioText(text).workload({ ...report, namespace: "other" })).toEqual({
      duration: "",
      failsPercent: "",
    });
    expect(new ScenarioText(text).withWorkload(report, { duration: "", failsPercent: "" })).toBe("");
  });

  test.each(["a: [", "- 1", "a: *b", "a: 1\na: 2", "just text"])(
    "that is not a scenario is not changed: %s",
    (text) => {
      const scenario = new ScenarioText(text);
      expect(scenario.isParseable).toBe(false);
      expect(scenario.withField("for", "1d")).toBe(text);
      expect(scenario.events).toEqual([]);
      expect(scenario.field("for")).toBe("");
    },
  );
});

test("CronJobs and Jobs are found in documents and in lists, however broken those beside them are", () => {
  const text = `
kind: CronJob
metadata: { name: report }
---
kind: Job
metadata: { name: once, namespace: batch }
---
kind: List
items: [{ kind: Job, metadata: { name: listed } }, 1, null]
---
a: *nothing
---
kind: ConfigMap
metadata: { name: other }
`;
  expect(subjectsIn(text)).toEqual([
    report,
    { kind: "Job", namespace: "batch", name: "once" },
    { kind: "Job", namespace: "default", name: "listed" },
  ]);
  expect(subjectsIn("a: [")).toEqual([]);
});
