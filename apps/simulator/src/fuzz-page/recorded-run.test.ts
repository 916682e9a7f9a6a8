import { type Job, type UnstructuredObject, configMaps } from "@kubewright/api";
import { ControllerShell } from "@kubewright/controller";
import {
  type FaultPlan,
  type Invariant,
  type SimulatedController,
  builtInInvariants,
  runPlan,
} from "@kubewright/simulation";
import { beforeAll, describe, expect, test } from "vitest";
import type { RecordedRun } from "@kubewright/timeline/data";

import { mutantRunner, stalePlan } from "../../test/stale-plan.js";
import { type PlanRecording, recordPlan } from "./record-plan.js";
import { buildRecordedRun } from "./recorded-run.js";

const COMMAND = "kubewright fuzz --replay plan.yaml";
const options = { command: COMMAND, invariants: builtInInvariants };

function texts(run: RecordedRun, title: string): string[] {
  return run.narrative.find((part) => part.title === title)!.sentences.map(({ text }) => text);
}

describe("a run in which a finished Job is forgotten", () => {
  let recording: PlanRecording;
  let run: RecordedRun;

  beforeAll(async () => {
    const runner = await mutantRunner("job-finished-forgotten");
    recording = await recordPlan(stalePlan(), { runner, invariants: builtInInvariants });
    run = buildRecordedRun(recording, options);
  });

  test("has a narrative: the plan, the cached view, the writes and the invariant", () => {
    expect(texts(run, "What is simulated")).toEqual([
      "5m of virtual time from 2026-01-01T00:00:00Z, with Job default/pi.",
      "Set up with consistencyGate: false.",
    ]);
    expect(texts(run, "What happened before")).toContain("job-controller hears nothing new of Jobs.");
    expect(texts(run, "What happened before")).toContainEqual(
      expect.stringMatching(
        /^Job default\/pi is changed by job-controller, stored as version \d+: condition Complete: /,
      ),
    );
    expect(texts(run, "What job-controller believed")).toEqual([
      expect.stringMatching(
        /^At \+11s job-controller saw in its caches that Job default\/pi was at version \d+, received at \+2s; that was out of date since \+11s, and stored was version \d+; what it had not heard of: condition SuccessCriteriaMet: none → True; condition Complete: none → True; active: 1 → none; succeeded: none → 1\.$/,
      ),
      "Meanwhile, since +5s: job-controller hears nothing new of Jobs.",
    ]);
    expect(texts(run, "What it did")).toEqual([
      "job-controller decides for Job default/pi: creating 1 pod: 0 active, 1 wanted.",
      expect.stringMatching(/^Pod default\/pi-\w+ is created by job-controller, stored as version \d+\.$/),
    ]);
    expect(texts(run, "What should have held")).toEqual([
      expect.stringMatching(/^No pod is created for a Job that is stored as Complete or Failed, /),
      expect.stringMatching(
        /^It did not at \+11s: Job default\/pi gets Pod default\/pi-\w+, 0 ms after it was Complete\.$/,
      ),
    ]);
  });

  test("has the violation right after the step that it was found at, and each decision before what it wrote", () => {
    const [violation] = run.violations;
    expect(run.steps[violation!.step - 1]).toMatchObject({ kind: "change", look: "added" });
    expect(run.steps[violation!.step]).toMatchObject({ kind: "violation", look: "wrong" });
    expect(run.steps[violation!.step - 2]).toMatchObject({ kind: "decision", look: "acts" });
    const times = run.steps.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("is about the Job and its pods", () => {
    const names = run.objects.filter(({ isConcerned }) => isConcerned).map(({ name }) => name.split("-")[0]);
    expect(names).toEqual(["Job default/pi", "Pod default/pi", "Pod default/pi"]);
    expect(run.objects[run.selected!]!.name).toBe("Job default/pi");
    expect(run.omitted).toEqual([]);
  });

  test("Leases are left out, and it says so", async () => {
    const runner = await mutantRunner("job-finished-forgotten");
    const elected = { ...stalePlan(), controllerManagers: 2 };
    const { omitted, objects } = buildRecordedRun(
      await recordPlan(elected, { runner, invariants: builtInInvariants }),
      options,
    );
    expect(omitted).toContainEqual(expect.stringMatching(/^\d+ steps about Leases and Events are left out\.$/));
    expect(objects.some(({ name }) => name.startsWith("Lease"))).toBe(false);
  });

  test("keeps at most the given number of steps around the violation, and the views before them", () => {
    const short = buildRecordedRun(recording, { ...options, maxSteps: 40 });
    expect(short.steps).toHaveLength(40);
    expect(short.steps[short.violations[0]!.step]!.kind).toBe("violation");
    expect(short.omitted).toEqual([
      expect.stringMatching(/^\d+ steps about objects that are not concerned are left out\.$/),
      expect.stringMatching(/^\d+ earlier steps are left out; what was known after them is shown\.$/),
      expect.stringMatching(/^\d+ later steps are left out\.$/),
    ]);
    const job = short.objects.findIndex(({ name }) => name === "Job default/pi");
    expect(short.initialVersions.store.map(([object]) => object)).toContain(job);
    const keeper = short.actors.findIndex(({ name }) => name === "job-controller");
    expect(short.initialVersions.caches.some(([actor, object]) => actor === keeper && object === job)).toBe(true);
    expect(texts(short, "What job-controller believed")).toEqual(texts(run, "What job-controller believed"));
  });

  test("drops the earliest records of a run that is too long, and says how many", async () => {
    const runner = await mutantRunner("job-finished-forgotten");
    const long = await recordPlan(stalePlan(), { runner, invariants: builtInInvariants }, 60);
    expect(long.records.length).toBeLessThan(120);
    expect(long.dropped % 60).toBe(0);
    expect(buildRecordedRun(long, options).omitted[0]).toBe(
      `The first ${long.dropped} records of this long run are forgotten.`,
    );
  });
});

test("a violation that is found after the run is the last step, and a run without violations has no narrative", async () => {
  const recording = await recordPlan(stalePlan(), { runner: runPlan, invariants: builtInInvariants });
  expect(recording.violations).toEqual([]);
  const quiet = buildRecordedRun(recording, options);
  expect(quiet.violations).toEqual([]);
  expect(quiet.narrative).toEqual([]);
  const violation = {
    invariant: "L1",
    subject: "Job default/pi",
    message: "does not end",
    atMs: recording.violations.length,
  };
  const late = buildRecordedRun({ ...recording, violations: [violation] }, options);
  expect(late.violations[0]!.step).toBe(late.steps.length - 1);
  expect(late.objects.filter(({ isConcerned }) => isConcerned).length).toBeGreaterThan(1);
});

test("faults of single requests are shown at the request, and pods by name instead of UID", async () => {
  const aimed = {
    requestFails: { components: ["job-controller"], verbs: ["create"], resources: ["pods"], nth: 1, times: 1 },
  };
  const plan = { ...stalePlan(), events: [{ at: "+0s", ...aimed }] };
  const run = buildRecordedRun(await recordPlan(plan, { runner: runPlan, invariants: [] }), options);
  expect(run.scenarioEvents).toEqual([]);
  expect(run.steps.filter(({ kind }) => kind === "scenarioEvent" || kind === "note")).toEqual([]);
  expect(run.steps.filter(({ look }) => look === "false").map(({ text }) => text)).toEqual([
    "job-controller: create pods default/pi-… → 500 (a fault: nothing was done)",
  ]);
  expect(run.omitted).toContain("Faults of single requests, 1 in the plan, are shown where they hit.");
  expect(run.steps.map(({ more }) => more)).toContainEqual(
    expect.stringMatching(/uncountedTerminatedPods\.succeeded: none → \[Pod default\/pi-\w+\]/),
  );
});

test("for a missed deadline the narrative has the last decision about the object", async () => {
  const invariant: Invariant = {
    name: "mine",
    sentence: "A Job is complete within a second.",
    watch: (world, violated) => ({
      onTick() {
        const job = world.list<Job>("jobs.batch")[0];
        if (job?.status?.succeeded === undefined) violated("Job default/pi", "is not complete");
      },
    }),
  };
  const recording = await recordPlan({ ...stalePlan(), events: [] }, { runner: runPlan, invariants: [invariant] });
  const run = buildRecordedRun(recording, { command: COMMAND, invariants: [invariant] });
  expect(texts(run, "What it did last")).toEqual([
    "job-controller decides for Job default/pi: nothing to create: 1 active, 1 wanted.",
  ]);
  expect(texts(run, "What job-controller believed")).toEqual([
    "At +3s the caches of job-controller showed all of these objects as they were stored.",
  ]);
  expect(texts(run, "What should have held")[1]).toBe("It did not at +5s: Job default/pi is not complete.");
});

test("a lost answer is marked as lost, and the sentence of a custom invariant is shown", async () => {
  const invariant: Invariant = {
    name: "mine",
    sentence: "A Job has one pod at most.",
    watch(world, violated) {
      return {
        onChange() {
          if (world.list("pods").length > 1) violated("Job default/pi", "has two pods");
        },
      };
    },
  };
  const { manifests, ...rest } = stalePlan();
  const plan = {
    ...rest,
    manifests: [],
    events: [
      { at: "+2s", apply: manifests[0]! },
      {
        at: "+0s",
        requestFails: {
          components: ["job-controller"],
          verbs: ["create"],
          resources: ["pods"],
          with: 500 as const,
          effect: "kept" as const,
          times: 1,
        },
      },
      { at: "+1s", staleCache: { kind: "Pod", controller: "job-controller" }, for: "20s" },
    ],
  };
  const recording = await recordPlan(plan, { runner: runPlan, invariants: [invariant] });
  const run = buildRecordedRun(recording, { command: COMMAND, invariants: [invariant] });
  expect(run.violations[0]).toMatchObject({ invariant: "mine", sentence: "A Job has one pod at most." });
  expect(run.steps.filter(({ look }) => look === "lost").map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^job-controller: create pods default\/pi-\w+ → 500 \(a fault: it was done, and the answer lost\)$/,
    ),
  ]);
  expect(texts(run, "What job-controller believed")[0]).toMatch(
    /^At \+[\d.]+s job-controller saw in its caches that Pod default\/pi-\w+ was not there; it was stored since \+2s, by then as version \d+\.$/,
  );
});

test("for a custom controller without decisions the narrative shows its caches at the time of its write", async () => {
  const sweeper: SimulatedController = (environment) => {
    const shell = new ControllerShell(environment, { name: "sweeper" });
    const informer = shell.informer(configMaps);
    const queue = shell.addLoop({
      queue: "sweeper",
      reconcile: async (key) => {
        const cached = informer.store.get(key);
        if (cached?.data?.["keep"] !== "no") return;
        await shell.client.resource(configMaps).delete(cached.metadata.name!, { namespace: "default" });
      },
    });
    informer.addEventHandler({ onAdd: ({ metadata }) => queue.addAfter(`default/${metadata.name}` as never, 10_000) });
    return shell;
  };
  const configMap = (keep: string): UnstructuredObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "default" },
    data: { keep },
  });
  const recorded: Invariant = {
    name: "kept",
    sentence: "What is to be kept is not deleted.",
    watch: (_world, violated) => ({
      onChange({ type, object }) {
        const { data } = object as { data?: Record<string, string> };
        if (type === "DELETED" && data?.["keep"] === "yes") violated("ConfigMap default/c", "is deleted");
      },
    }),
  };
  const plan: FaultPlan = {
    ...stalePlan(),
    manifests: [configMap("no")],
    events: [
      { at: "+1s", for: "1m", watchSilent: { controller: "sweeper" } },
      { at: "+2s", apply: configMap("yes") },
    ],
  };
  const recording = await recordPlan(plan, { runner: runPlan, invariants: [recorded], controllers: { sweeper } });
  const run = buildRecordedRun(recording, { command: COMMAND, invariants: [recorded] });
  expect(texts(run, "What sweeper believed")[0]).toMatch(
    /^At \+10s sweeper saw in its caches that ConfigMap default\/c was at version \d+, received at \+0s; that was out of date since \+2s, and stored was version \d+; what it had not heard of: data\.keep: no → yes\.$/,
  );
  expect(texts(run, "What it did")).toEqual(["ConfigMap default/c is gone from the store, removed by sweeper."]);
  const actor = run.actors.find(({ name }) => name === "sweeper");
  expect(actor).toMatchObject({ isController: true, isInvolved: true });
});
