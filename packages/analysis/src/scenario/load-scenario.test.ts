import { readFile } from "node:fs/promises";

import { scenarioSchema } from "@kubewright/simulation";
import { expect, test } from "vitest";

import { UserError } from "../errors/user-error.js";
import { loadScenario } from "./load-scenario.js";

const job = (name: string, labels = ""): string => `
  - apiVersion: batch/v1
    kind: Job
    metadata: { name: ${name}${labels} }
    spec:
      template:
        spec: { restartPolicy: Never, containers: [{ name: main, image: busybox }, { name: sidecar, image: busybox }] }`;

const cronJob = `
  - apiVersion: batch/v1
    kind: CronJob
    metadata: { name: report }
    spec:
      schedule: "@hourly"
      jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: main, image: b }] } } } }`;

/** Returns a scenario with the given text, a Job and a CronJob. */
function scenario(text: string): string {
  return `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n${text}\nmanifests:${job("pi")}${cronJob}\n`;
}

function io(files: Record<string, string>): Parameters<typeof loadScenario>[1] {
  return {
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return text;
    },
    listFolder: async (path) => {
      if (files[path] === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return undefined;
    },
  };
}

async function refusal(text: string): Promise<string[]> {
  try {
    await loadScenario("s.yaml", io({ "s.yaml": text }));
  } catch (error) {
    if (error instanceof UserError) return error.message.split("\n");
    throw error;
  }
  return [];
}

test.each<[title: string, text: string, message: string]>([
  ["a typo", "fro: 1d", 's.yaml:3:1: fro: is not a field of this; did you mean "for"?'],
  [
    "a typo further in",
    "events:\n  - at: +1h\n    contrllerDown: all",
    's.yaml:5:5: events[0].contrllerDown: is not a field of this; did you mean "controllerDown"?',
  ],
  [
    "a negative duration",
    "for: -5d",
    's.yaml:3:6: for: "-5d" is negative; write a duration such as 30d, 1d12h, 90m, 45s',
  ],
  [
    "a negative duration of a workload",
    "workloads:\n  - select: {}\n    duration: -5m",
    's.yaml:5:15: workloads[0].duration: "-5m" is negative; write a duration such as 5m, 20m..70m, normal(10m, 2m), lognormal(10m, 0.5) in 5m..2h, exponential(10m)',
  ],
  [
    "a number for a duration",
    "for: 30",
    "s.yaml:3:6: for: 30 is not a duration; write for example 30d or 1d12h or 90m or 45s",
  ],
  [
    "an unknown zone",
    "timeZone: Europe/Berln",
    's.yaml:3:11: timeZone: "Europe/Berln" is not a time zone; did you mean "Europe/Berlin"?',
  ],
  ["a hundred years", "for: 36500d", 's.yaml:3:6: for: "36500d" is longer than ten years; write 3650d at most'],
  ["an invalid day", "start: 2026-02-30", 's.yaml:3:8: start: "2026-02-30" is not a valid time'],
  ["an invalid seed", "seed: 1.5", "s.yaml:3:7: seed: 1.5 is not an integer"],
  ["a negative seed", "seed: -1", "s.yaml:3:7: seed: -1 is too small; at least 0 is needed"],
  [
    "an unknown controller",
    "events:\n  - { at: +1h, controllerDown: cronjob-controler }",
    's.yaml:4:32: events[0].controllerDown: "cronjob-controler" is not known; did you mean "cronjob-controller"?',
  ],
  [
    "a wrong kind",
    "workloads:\n  - { select: { kind: Deployment }, duration: 5m }",
    's.yaml:4:23: workloads[0].select.kind: "Deployment" is not known; known are CronJob, Job',
  ],
  [
    "a workload that selects nothing",
    "workloads:\n  - { select: { name: raport }, duration: 5m }",
    's.yaml:4:15: workloads[0].select: selects nothing; did you mean "report"?',
  ],
  [
    "a workload selected by labels without a match",
    "workloads:\n  - { select: { labels: { app: x } }, duration: 5m }",
    "s.yaml:4:15: workloads[0].select: selects nothing; there is Job default/pi, CronJob default/report",
  ],
  [
    "an unknown container",
    "workloads:\n  - { select: { kind: Job }, container: sidcar, duration: 5m }",
    's.yaml:4:41: workloads[0].container: nothing selected has a container "sidcar"; did you mean "sidecar"?',
  ],
  [
    "a workload without settings",
    "workloads:\n  - select: {}",
    "s.yaml:4:5: workloads[0]: says nothing; give it duration, startupDelay, exitCode or ignoreSigterm",
  ],
  [
    "a range that ends before it begins",
    "workloads:\n  - { select: {}, duration: 70m..20m }",
    's.yaml:4:29: workloads[0].duration: "70m..20m" is not a duration; write for example 5m, 20m..70m, normal(10m, 2m), lognormal(10m, 0.5) in 5m..2h or exponential(10m)',
  ],
  [
    "an invalid exit code",
    "workloads:\n  - { select: {}, exitCode: { 300: 1 } }",
    's.yaml:4:31: workloads[0].exitCode.300: "300" is not an exit code from 0 to 255; write for example 0 or 137',
  ],
  [
    "an event after the end",
    "for: 6h\nevents:\n  - { at: +7h, controllerDown: all }",
    "s.yaml:5:11: events[0].at: +7h is not before the end, 2026-01-01T06:00:00Z; run longer than 6h, or move the event earlier",
  ],
  [
    "an event before the start",
    "events:\n  - { at: 2025-12-31T00:00:00Z, controllerDown: all }",
    "s.yaml:4:11: events[0].at: 2025-12-31T00:00:00Z is before the start, 2026-01-01T00:00:00Z; nothing happens before that",
  ],
  [
    "an event without a kind",
    "events:\n  - at: +1h",
    "s.yaml:4:5: events[0]: has a time but no kind of event; add for example `controllerDown: all`",
  ],
  [
    "two kinds in one event",
    "events:\n  - { at: +1h, nodeLost: node-1, controllerDown: all }",
    "s.yaml:4:5: events[0]: nodeLost and controllerDown are two events; give each its own entry",
  ],
  [
    "a length of what does not last",
    "events:\n  - { at: +1h, for: 5m, resume: { kind: Job, name: pi } }",
    "s.yaml:4:16: events[0].for: resume does not last; leave `for` out",
  ],
  [
    "no length of what must end",
    "events:\n  - { at: +1h, apiServerDown: all }",
    "s.yaml:4:5: events[0]: apiServerDown needs `for`: how long it lasts, for example 10m",
  ],
  [
    "an unknown node",
    "events:\n  - { at: +1h, nodeLost: nod-1 }",
    's.yaml:4:26: events[0].nodeLost: there is no node "nod-1"; did you mean "node-1"?',
  ],
  [
    "an unknown object",
    "events:\n  - { at: +1h, suspend: { kind: CronJob, name: reprot } }",
    's.yaml:4:48: events[0].suspend.name: there is no CronJob "default/reprot"; did you mean "report"?',
  ],
  [
    "an object without a name",
    "events:\n  - { at: +1h, delete: { kind: Job } }",
    "s.yaml:4:24: events[0].delete: which Job? Give name, or labels, and not both",
  ],
  [
    "a lease without leader election",
    "events:\n  - { at: +1h, leaseLost: true }",
    "s.yaml:4:16: events[0].leaseLost: there is no leader election; add `controllerManagers: 2`",
  ],
  ["another kind of file", "kind: Scenario", 's.yaml:3:1: the key "kind" is repeated here'],
  [
    "a negative capacity",
    "nodes: [{ name: a, cpu: -4 }]",
    "s.yaml:3:25: nodes[0].cpu: -4 is too small; at least 0 is needed",
  ],
  [
    "a capacity that is none",
    "nodes: [{ name: a, memory: 1.2.3 }]",
    's.yaml:3:28: nodes[0].memory: "1.2.3" is not a quantity; write for example 4 or 500m or 16Gi',
  ],
  [
    "a node name that is none",
    "nodes: [{ name: a..b }]",
    's.yaml:3:17: nodes[0].name: "a..b" is not a node name; write for example node or large',
  ],
  [
    "too many nodes",
    "nodes: [{ name: a, count: 5000 }, { name: b, count: 5000 }]",
    "s.yaml:3:8: nodes: 10000 nodes are too many; at most 5000 are simulated",
  ],
  [
    "an outage of a thousand years",
    "events: [{ at: +1h, for: 365000d, controllerDown: all }]",
    's.yaml:3:26: events[0].for: "365000d" is longer than ten years; write 3650d at most',
  ],
  [
    "a jump of a thousand years",
    "events: [{ at: +1h, clockJump: -365000d }]",
    's.yaml:3:32: events[0].clockJump: "-365000d" is longer than ten years; write 3650d at most',
  ],
  [
    "pods of an unknown Job",
    "events: [{ at: +1h, podEvicted: { job: pj } }]",
    's.yaml:3:40: events[0].podEvicted.job: there is no Job "default/pj"; did you mean "pi"?',
  ],
  ["an alias of nothing", "name: *x", "s.yaml:3:7: not YAML: there is no anchor &x before the alias *x"],
  [
    "aliases that unfold to too much",
    `a: &a [${"x,".repeat(100)}]\nb: &b [${"*a,".repeat(100)}]\nc: [${"*b,".repeat(20)}]`,
    "s.yaml:3:64: not YAML: its aliases unfold to too much; write the values out",
  ],
  [
    "a value that contains itself",
    "nodes: &n [*n]",
    "s.yaml:3:12: not YAML: the anchor &n contains itself; write the value out",
  ],
])("%s is refused with the place and what to write", async (_title, text, message) => {
  expect(await refusal(scenario(text))).toEqual([message]);
});

test("every mistake of a file is reported on its own line, in the order of the file", async () => {
  const text = scenario("for: 100\nseed: x\nevents:\n  - { att: +1h, nodeLost: 5 }");
  expect((await refusal(text)).map((line) => line.slice(0, 26))).toEqual([
    "s.yaml:3:6: for: 100 is no",
    's.yaml:4:7: seed: "x" is n',
    "s.yaml:6:5: events[0]: at ",
    "s.yaml:6:7: events[0].att:",
    "s.yaml:6:27: events[0].nod",
  ]);
});

test("a file that is missing, no scenario, or without manifests is reported in one line", async () => {
  await expect(loadScenario("s.yaml", io({}))).rejects.toThrow("--scenario: s.yaml: no such file");
  expect(await refusal("apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n")).toEqual([
    "s.yaml:1:1: there is nothing to simulate; add `manifests`, or name files on the command line",
  ]);
  expect(await refusal("hello")).toEqual(['s.yaml:1:1: "hello" is not a kubewright scenario']);
  expect(await refusal("apiVersion: sim.kubewright.dev/v2\nkind: Scenario\n")).toEqual([
    's.yaml:1:13: apiVersion: is "sim.kubewright.dev/v2"; write "sim.kubewright.dev/v1"',
  ]);
  expect(await refusal("apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nmanifests: [gone.yaml]\n")).toEqual([
    "s.yaml:3:13: manifests[0]: gone.yaml: no such file or folder",
  ]);
});

test("paths are relative to the scenario, and its workloads become annotations of the pods they select", async () => {
  const files = {
    "a/b/s.yaml": `apiVersion: sim.kubewright.dev/v1
kind: Scenario
manifests: [../job.yaml]
workloads:
  - { select: { kind: Job }, duration: 5m, exitCode: { 0: 0.9, 3: 0.1 } }
  - { select: { name: other }, duration: 1m }
  - { select: { name: pi }, attempts: 1, exitCode: 2 }
events:
  - at: +1h
    apply: other.yaml
`,
    "a/job.yaml": job("pi").replace("  - ", "    "),
    "a/b/other.yaml": job("other").replace("  - ", "    "),
  };
  const files2 = { ...files, "a/b/../job.yaml": files["a/job.yaml"] };
  const { name, manifests, events } = await loadScenario("a/b/s.yaml", io(files2));
  const rules = (object: unknown): unknown =>
    JSON.parse(
      (object as { spec: { template: { metadata: { annotations: Record<string, string> } } } }).spec.template.metadata
        .annotations["sim.kubewright.dev/rules"]!,
    );
  expect(name).toBe("s");
  expect(manifests.map(({ source }) => source)).toEqual(["a/b/../job.yaml:2"]);
  expect(rules(manifests[0]!.object)).toEqual([
    { duration: "5m", exitCode: "0=0.9,3=0.1" },
    { attempts: "1", exitCode: "2" },
  ]);
  expect(rules(events[0]!.objects[0]!.object)).toEqual([
    { duration: "5m", exitCode: "0=0.9,3=0.1" },
    { duration: "1m" },
  ]);
});

test("the command line overrides the file", async () => {
  const text = scenario("start: 2026-03-01\nfor: 2d\nseed: 5");
  const overrides = { startMs: 0, durationMs: 1000, seed: 9 };
  expect(await loadScenario("s.yaml", io({ "s.yaml": text }))).toMatchObject({
    startMs: Date.UTC(2026, 2, 1),
    durationMs: 2 * 86_400_000,
    seed: 5,
  });
  expect(await loadScenario("s.yaml", io({ "s.yaml": text }), overrides)).toMatchObject(overrides);
});

// After a change of the schema, write it to both files as JSON, and format them with prettier.
test.each(["../../../../docs/scenario.schema.json", "../../../../apps/simulator/scenario.schema.json"])(
  "the published schema %s is the one that is checked",
  async (file) => {
    const published = JSON.parse(await readFile(new URL(file, import.meta.url), "utf8")) as unknown;
    expect(published).toEqual(JSON.parse(JSON.stringify(scenarioSchema)));
  },
);
