import {
  type UnstructuredObject,
  configMaps,
  cronJobs,
  jobs,
  namespaces,
  nodes,
  pods,
  priorityClasses,
  resourceQuotas,
} from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, parseDuration, seededRandom } from "@kubewright/clock";
import { Ajv2020 } from "ajv/dist/2020.js";
import { assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";

import type { FaultPlan } from "../fault-plan.js";
import { checkScenario, nodeShapes } from "../scenario/check-scenario.js";
import { scenarioSchema } from "../scenario/scenario-schema.js";
import { timeOf } from "../scenario/scenario-times.js";
import { missingReferences } from "../minimize/references.js";
import { exhaustivePlans } from "./exhaustive-plans.js";
import {
  EVENTS,
  FAULT_KINDS,
  type FaultKind,
  type ScenarioEventEntry,
  type ScenarioEventMap,
} from "../faults/registry.js";
import { generatePlan } from "./generate-plan.js";
import { SHAPES } from "./shape.js";

const SEEDS = 2_000;
const plans = Array.from({ length: SEEDS }, (_, index) => generatePlan(index + 1));
const all = plans.flatMap(({ events = [] }) => events);
const kindOf = (entry: ScenarioEventEntry): string => Object.keys(entry).find((key) => key !== "at" && key !== "for")!;
const offsetMs = ({ at }: ScenarioEventEntry): number => parseDuration(at.slice(1))!;
const manifestsOf = ({ manifests, events = [] }: FaultPlan): UnstructuredObject[] => [
  ...manifests,
  ...events.flatMap(({ apply }) => (typeof apply === "object" ? [apply] : [])),
];

test("equal seeds give equal plans, and others give others", () => {
  expect(generatePlan(7)).toEqual(generatePlan(7));
  expect(new Set(plans.map((plan) => JSON.stringify({ ...plan, seed: 0, name: "" }))).size).toBe(SEEDS);
});

test("each scenario event has one kind, starts before the end, and ends in time", () => {
  for (const plan of plans) {
    const lengthMs = parseDuration(plan.for)!;
    const wrong = (plan.events ?? []).filter((entry) => {
      const kinds = Object.keys(entry).filter((key) => key !== "at" && key !== "for");
      const forMs = entry.for === undefined ? undefined : parseDuration(entry.for);
      const lasts = EVENTS[kinds[0] as keyof typeof EVENTS].lasts !== undefined;
      const isOver = offsetMs(entry) + (forMs ?? 0) < lengthMs - 300_000;
      return kinds.length !== 1 || lasts !== (forMs !== undefined) || !isOver;
    });
    expect([plan.seed, wrong]).toEqual([plan.seed, []]);
  }
});

test("every plan is a scenario that its schema allows, and that makes sense", () => {
  const validate = new Ajv2020({ strict: false }).compile(scenarioSchema);
  for (const plan of plans) {
    expect([plan.seed, validate(plan), validate.errors]).toEqual([plan.seed, true, null]);
    const objects = manifestsOf(plan).map((object) => ({ object }));
    const facts = { startMs: timeOf(plan.start), durationMs: parseDuration(plan.for)!, objects };
    expect([plan.seed, checkScenario(plan, { ...facts, nodes: nodeShapes(plan.nodes!) })]).toEqual([plan.seed, []]);
  }
});

test("events are in the order of their times", () => {
  for (const { events = [] } of plans) {
    const times = events.map(offsetMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }
});

test("every manifest is one that the API server takes", async () => {
  const server = createApiServer({ clock: new SimulatedClock(0), random: seededRandom(1) });
  const client = new Client({ transport: server.transport, clock: new SimulatedClock(0) });
  await client.resource(namespaces).create({ metadata: { name: "second" } });
  const definitions = [configMaps, cronJobs, jobs, namespaces, nodes, pods, priorityClasses, resourceQuotas];
  for (const plan of plans.slice(0, 500))
    for (const object of manifestsOf(plan)) {
      const definition = definitions.find(({ kind }) => kind === object.kind)!;
      if (definition === namespaces) continue;
      const { namespace } = object.metadata;
      const refused = await client
        .resource(definition)
        .create(object, { ...(namespace === undefined ? {} : { namespace }), dryRun: "All", fieldValidation: "Strict" })
        .then(
          () => undefined,
          (error: unknown) => `${JSON.stringify(object)}: ${String(error)}`,
        );
      expect(refused).toBeUndefined();
    }
});

test("what happens and how pods behave is said of objects, nodes and processes that there are", () => {
  for (const plan of plans) expect([plan.seed, missingReferences(plan)]).toEqual([plan.seed, []]);
});

test("every kind of fault comes up, alone or with others, and every sixth plan has none", () => {
  const seen = new Set(all.map(kindOf));
  for (const kind of FAULT_KINDS.filter((kind) => kind !== "jitter" && kind !== "phaseFlip"))
    expect([kind, seen.has(kind)]).toEqual([kind, true]);
  expect(plans.filter(({ jitter }) => jitter !== undefined).length).toBeGreaterThan(SEEDS / 10);
  expect(all.some(({ patch }) => patch?.subresource === "status")).toBe(true);
  const requests = all.flatMap(({ requestFails }) => requestFails ?? []);
  expect(new Set(requests.map(({ with: answer = 500 }) => answer))).toEqual(
    new Set([403, 409, 429, 500, 503, 504, "timeout"]),
  );
  for (const effect of [undefined, "kept"]) expect(requests.some((fails) => fails.effect === effect)).toBe(true);
  expect(requests.some(({ whileAtLeast }) => whileAtLeast !== undefined)).toBe(true);
});

test("no injected response is false: no existing object is reported missing, and conflicts are for changes only", () => {
  const fails = all.flatMap(({ requestFails }) => requestFails ?? []);
  const answers = (holds: (each: ScenarioEventMap["requestFails"]) => boolean): unknown[] => [
    ...new Set(fails.filter(holds).map(({ with: answer = 500 }) => answer)),
  ];
  expect(answers(() => true)).not.toContain(404);
  expect(new Set(answers(({ effect }) => effect === "kept"))).toEqual(new Set([500, 504, "timeout"]));
  for (const verb of ["create", "delete", "get", "list"])
    expect(answers(({ verbs }) => verbs?.includes(verb) === true)).not.toContain(409);
});

test("lists are stale only where no process restarts", () => {
  const stale = plans.filter(({ events = [] }) => events.some(({ staleList }) => staleList !== undefined));
  expect(stale.length).toBeGreaterThan(10);
  for (const { events = [] } of stale)
    expect(events.some((entry) => "controllerCrashes" in entry || "controllerDown" in entry)).toBe(false);
});

/** Reports whether some plan has a Job, its own or a CronJob's, that passes the test. */
function someJob(holds: (spec: Record<string, never>) => boolean): boolean {
  return plans
    .flatMap(({ manifests }) => manifests)
    .flatMap((object) => {
      const { spec } = object as unknown as { spec: Record<string, never> };
      const template = spec?.["jobTemplate"] as unknown as { spec: Record<string, never> } | undefined;
      return object.kind === "Job" ? [spec] : template === undefined ? [] : [template.spec];
    })
    .some(holds);
}

test.each([
  ["more pods at once than are needed", (spec: never) => spec["parallelism"] > spec["completions"]],
  ["no pods", (spec: never) => spec["parallelism"] === 0],
  ["a work queue", (spec: never) => spec["completions"] === undefined && spec["parallelism"] > 1],
  ["Indexed", (spec: never) => spec["completionMode"] === "Indexed"],
  ["a limit for each index", (spec: never) => spec["backoffLimitPerIndex"] !== undefined],
  ["a limit of failed indexes", (spec: never) => spec["maxFailedIndexes"] !== undefined],
  ["no failure at all", (spec: never) => spec["backoffLimit"] === 0],
  ["restarts in place", (spec: never) => JSON.stringify(spec).includes("OnFailure")],
  ["FailIndex", (spec: never) => JSON.stringify(spec["podFailurePolicy"] ?? "").includes("FailIndex")],
  ["NotIn", (spec: never) => JSON.stringify(spec["podFailurePolicy"] ?? "").includes("NotIn")],
  ["a container by name", (spec: never) => JSON.stringify(spec["podFailurePolicy"] ?? "").includes("containerName")],
  ["disruptions", (spec: never) => JSON.stringify(spec["podFailurePolicy"] ?? "").includes("DisruptionTarget")],
  ["success by count", (spec: never) => JSON.stringify(spec["successPolicy"] ?? "").includes("succeededCount")],
  ["success by index", (spec: never) => JSON.stringify(spec["successPolicy"] ?? "").includes("succeededIndexes")],
  ["replacement of what has ended", (spec: never) => spec["podReplacementPolicy"] === "Failed"],
  ["a deadline", (spec: never) => spec["activeDeadlineSeconds"] !== undefined],
  ["a TTL of nothing", (spec: never) => spec["ttlSecondsAfterFinished"] === 0],
  ["suspended at first", (spec: never) => spec["suspend"] === true],
  ["somebody else's", (spec: never) => spec["managedBy"] !== undefined],
  ["a selector of its own", (spec: never) => spec["manualSelector"] === true],
])("some Job is: %s", (_, holds) => {
  expect(someJob(holds as (spec: Record<string, never>) => boolean)).toBe(true);
});

test.each([
  ["deleted in background", (entry: ScenarioEventEntry) => entry.delete?.propagation === "Background"],
  ["deleted in foreground", (entry: ScenarioEventEntry) => entry.delete?.propagation === "Foreground"],
  ["orphaning what it owns", (entry: ScenarioEventEntry) => entry.delete?.propagation === "Orphan"],
  ["pods deleted at once", (entry: ScenarioEventEntry) => entry.delete?.gracePeriodSeconds === 0],
  ["a node deleted", (entry: ScenarioEventEntry) => entry.delete?.kind === "Node"],
  ["a node back under its name", (entry: ScenarioEventEntry) => (entry.apply as UnstructuredObject)?.kind === "Node"],
  ["a Job made again", (entry: ScenarioEventEntry) => (entry.apply as UnstructuredObject)?.kind === "Job"],
  ["pods evicted", (entry: ScenarioEventEntry) => entry.podEvicted !== undefined],
  [
    "suspended for a moment",
    (entry: ScenarioEventEntry) => entry.suspend !== undefined && parseDuration(entry.for!)! <= 3000,
  ],
  ["scaled", (entry: ScenarioEventEntry) => JSON.stringify(entry.patch ?? "").includes("parallelism")],
  ["another schedule", (entry: ScenarioEventEntry) => JSON.stringify(entry.patch ?? "").includes("schedule")],
  ["another zone", (entry: ScenarioEventEntry) => JSON.stringify(entry.patch ?? "").includes("timeZone")],
  ["another owner", (entry: ScenarioEventEntry) => JSON.stringify(entry.apply ?? "").includes("ownerReferences")],
])("some user's action is: %s", (_, holds) => {
  expect(all.some(holds)).toBe(true);
});

test.each([
  [
    "pods are deleted while who looks after them does not hear of it",
    ({ staleCache }: ScenarioEventEntry) => staleCache?.kind === "Pod" && staleCache.controller === "job-controller",
    (entry: ScenarioEventEntry) => entry.delete?.kind === "Pod",
  ],
  [
    "a Job comes and goes while the garbage collector's watch is cut",
    ({ watchCut }: ScenarioEventEntry) => watchCut?.controller === "garbage-collector-controller",
    (entry: ScenarioEventEntry) => entry.delete?.name === "short-lived",
  ],
  [
    "a node joins that PodGC does not see",
    ({ staleCache }: ScenarioEventEntry) => staleCache?.kind === "Node",
    (entry: ScenarioEventEntry) => nameOfApplied(entry) === "fresh-node",
  ],
  [
    "a user recreates a CronJob's Job while its controller does not observe it",
    ({ staleCache }: ScenarioEventEntry) =>
      staleCache?.kind === "Job" && staleCache.controller === "cronjob-controller",
    (entry: ScenarioEventEntry) => /^cron-\d+-\d+$/.test(nameOfApplied(entry) ?? ""),
  ],
  [
    "a Job whose time is over is made again while its deletion is under way",
    ({ apiServerSlow }: ScenarioEventEntry) => apiServerSlow?.components?.[0] === "ttl-after-finished-controller",
    (entry: ScenarioEventEntry) => nameOfApplied(entry)?.startsWith("job-") === true,
  ],
  [
    "a Job is wanted smaller and its pods may not be deleted",
    ({ requestFails }: ScenarioEventEntry) =>
      requestFails?.verbs?.[0] === "delete" && requestFails.resources?.[0] === "pods",
    (entry: ScenarioEventEntry) => JSON.stringify(entry.patch ?? "").includes("parallelism"),
  ],
  [
    "a Job is suspended while its pods are not seen",
    ({ watchCut }: ScenarioEventEntry) => watchCut?.controller === "job-controller" && watchCut.kinds?.[0] === "Pod",
    (entry: ScenarioEventEntry) => entry.suspend?.kind === "Job",
  ],
  [
    "what an owner leaves behind gets another while the garbage collector is about it",
    ({ apiServerSlow }: ScenarioEventEntry) => apiServerSlow?.components?.[0] === "garbage-collector-controller",
    (entry: ScenarioEventEntry) => nameOfApplied(entry) === "left-behind",
  ],
  [
    "what a node owns too loses its other owner",
    (entry: ScenarioEventEntry) => nameOfApplied(entry) === "of-node",
    (entry: ScenarioEventEntry) => entry.delete?.kind === "Job",
  ],
  [
    "an owner that waits for its dependents gets another",
    (entry: ScenarioEventEntry) => entry.delete?.propagation === "Foreground",
    (entry: ScenarioEventEntry) => nameOfApplied(entry) === "late-dependent",
  ],
  [
    "a pod that has failed is found to have succeeded before its finalizer can be removed",
    ({ requestFails }: ScenarioEventEntry) => requestFails?.verbs?.[0] === "patch" && requestFails.nth === undefined,
    ({ patch }: ScenarioEventEntry) => JSON.stringify(patch ?? "").includes("Succeeded"),
  ],
  [
    "a process dies at writes of pods, and at those of what is recorded of them",
    ({ controllerCrashes }: ScenarioEventEntry) => controllerCrashes?.resources?.[0] === "pods",
    ({ controllerCrashes }: ScenarioEventEntry) => controllerCrashes?.resources?.[0] === "jobs/status",
  ],
])("in some plan %s", (_, one, other) => {
  const within = (a: ScenarioEventEntry, b: ScenarioEventEntry): boolean =>
    Math.abs(offsetMs(a) - offsetMs(b)) < 30_000;
  expect(
    plans.some(({ events = [] }) =>
      events.filter(one).some((first) => events.filter(other).some((second) => within(first, second))),
    ),
  ).toBe(true);
});

function nameOfApplied({ apply }: ScenarioEventEntry): string | undefined {
  return typeof apply === "object" ? apply.metadata.name : undefined;
}

test("settings are drawn: the gate, low limits, replicas, the threshold and quotas", () => {
  const settings = plans.map(({ controllers }) => controllers!);
  expect(new Set(settings.map(({ consistencyGate }) => consistencyGate))).toEqual(new Set([true, false]));
  expect(new Set(settings.map(({ maxUncountedPods }) => maxUncountedPods))).toEqual(new Set([undefined, 2, 3, 5, 500]));
  expect(new Set(settings.map(({ maxPodsPerSync }) => maxPodsPerSync))).toEqual(new Set([undefined, 2, 3, 5, 500]));
  expect(new Set(settings.map(({ terminatedPodGCThreshold }) => terminatedPodGCThreshold))).toEqual(
    new Set([undefined, 1, 3]),
  );
  expect(new Set(plans.map(({ controllerManagers }) => controllerManagers))).toEqual(new Set([undefined, 2, 3]));
  expect(plans.some(({ manifests }) => manifests.some(({ kind }) => kind === "ResourceQuota"))).toBe(true);
});

test("most plans are short, some take days", () => {
  const minutes = plans.map((plan) => parseDuration(plan.for)! / 60_000).toSorted((a, b) => a - b);
  expect(minutes[0]).toBeGreaterThan(5);
  expect(minutes[SEEDS / 2]).toBeLessThan(60);
  expect(minutes.at(-1)).toBeGreaterThan(24 * 60);
});

test("without a kind of fault the others stay what they were", () => {
  assert(
    property(integer({ min: 0, max: 2 ** 32 - 1 }), constantFrom(...FAULT_KINDS), (seed, kind) => {
      // A stale list excludes restarts, and a targeted fault may have another kind instead.
      const others = FAULT_KINDS.filter((other) => other !== kind);
      const whole = generatePlan(seed * 2);
      const less = generatePlan(seed * 2, { faults: others });
      expect({ ...less, events: [], for: "", jitter: undefined }).toEqual({
        ...whole,
        events: [],
        for: "",
        jitter: undefined,
      });
      if (kind === "staleList") return;
      const left = (entries: FaultPlan["events"]): string[] =>
        (entries ?? []).filter((entry) => !isFault(entry, kind)).map((entry) => JSON.stringify(entry));
      expect(left(less.events)).toEqual(left(whole.events));
    }),
  );
});

function isFault(entry: ScenarioEventEntry, kind: FaultKind): boolean {
  if (kind === "phaseFlip") return entry.patch?.subresource === "status" || entry.requestFails !== undefined;
  return kind in entry;
}

test("without a shape that is its own the Jobs stay what they were", () => {
  for (const shape of SHAPES.filter((shape) => shape.startsWith("user") || shape === "podGC" || shape === "nodes"))
    for (const plan of plans.slice(0, 50))
      expect(generatePlan(plan.seed, { shapes: SHAPES.filter((other) => other !== shape) }).manifests).toEqual(
        plan.manifests,
      );
});

test("no faults at all are no faults at all", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { events = [], jitter } = generatePlan(seed, { faults: [] });
    expect(jitter).toBeUndefined();
    for (const entry of events) expect(FAULT_KINDS).not.toContain(kindOf(entry));
  }
});

test("every write of a small run is tried with every fate", () => {
  const base = generatePlan(1, { faults: [] });
  const tried = [...exhaustivePlans(base, { controllers: ["job-controller"], writes: 3 })];
  expect(tried).toHaveLength(15);
  expect(tried[0]!.events![0]).toEqual({
    at: "+0s",
    for: expect.any(String),
    controllerCrashes: { controller: "job-controller", verbs: ["write"], nth: 1, when: "before" },
  });
  expect(tried[14]!.events![0]!.requestFails).toEqual({
    components: ["job-controller"],
    verbs: ["update", "patch"],
    nth: 3,
    times: 1,
    with: 409,
  });
  for (const plan of tried) expect(plan.events!.slice(1)).toEqual(base.events);
});

test("there is a plan for every seed", () => {
  for (let seed = 1; seed <= 3_000; seed++) expect(generatePlan(seed).manifests.length).toBeGreaterThanOrEqual(0);
});
