import { expect, test } from "vitest";

import { simulateScenario } from "../../test/simulate-scenario.js";
import type { ScenarioEventRecord, ObjectRecord, TraceRecord } from "../run/trace.js";
import { loadScenario } from "./load-scenario.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;

interface ScenarioRun {
  readonly records: readonly TraceRecord[];
  readonly problems: readonly string[];
  readonly pods: readonly PodRecord[];
  readonly events: readonly ScenarioEventRecord[];
}

/** Simulates a scenario for an hour: by default a Job that runs for ten minutes on two nodes. */
async function runScenario(text: string, spec = "", podSpec = ""): Promise<ScenarioRun> {
  const file = `apiVersion: sim.kubewright.dev/v1
kind: Scenario
for: 1h
nodes:
  - { name: node, count: 2, cpu: 2 }
workloads:
  - { select: { kind: Job }, duration: 10m }
${text}
manifests:
  - apiVersion: batch/v1
    kind: Job
    metadata: { name: work }
    spec:
      ${spec}
      template:
        spec:
          restartPolicy: Never
          ${podSpec}
          containers: [{ name: main, image: busybox, resources: { requests: { cpu: "1" } } }]
`;
  const scenario = await loadScenario("s.yaml", { readFile: async () => file, listFolder: async () => undefined });
  const { records, problems } = await simulateScenario(scenario);
  return {
    records,
    problems,
    pods: records.filter((record): record is PodRecord => record.type === "object" && record.kind === "Pod"),
    events: records.filter((record): record is ScenarioEventRecord => record.type === "scenarioEvent"),
  };
}

const eventYaml = (line: string): string => `events:\n  - { ${line} }`;
const time = (at: string): string => at.slice(11, 19);

/** Returns the phases of each pod with their times, in the order of the pods' creation. */
function histories({ pods }: ScenarioRun): string[][] {
  const names = [...new Set(pods.map(({ name }) => name))];
  return names.map((name) => {
    const phases: string[] = [];
    for (const { at, change, state } of pods.filter((pod) => pod.name === name)) {
      const what = change === "DELETED" ? "gone" : state.deleting ? "deleting" : state.phase;
      if (!phases.at(-1)?.endsWith(what)) phases.push(`${time(at)} ${what}`);
    }
    return phases;
  });
}

test("a scenario supports what a fault plan supports: lost responses, a crash at a write, a pause, settings and jitter", async () => {
  const text = `jitter: { requests: 100ms, events: 1s }
controllers: { consistencyGate: false, maxPodsPerSync: 1 }
events:
  - { at: +0s, for: 1m, requestFails: { verbs: [create], resources: [pods], effect: kept, times: 1 } }
  - { at: +0s, controllerCrashes: { controller: job-controller, resources: [jobs/status], nth: 1 } }
  - { at: +2m, for: 1m, paused: controller-manager-1 }`;
  const played = await runScenario(text, "parallelism: 2");
  expect(played.problems).toEqual([]);
  expect(played.events.map(({ message }) => message)).toEqual([
    "create pods are done, but answered with 500, the 1. of them",
    "job-controller dies after request 1 of write jobs/status",
    "controller-manager-1 is paused",
  ]);
  expect(await runScenario(text, "parallelism: 2")).toEqual(played);
});

test("a lost node's pod is replaced when it has been unreachable for 50 seconds and has been tolerated for 300", async () => {
  const played = await runScenario(eventYaml("at: +2m, nodeLost: node-1"));
  expect(histories(played)).toEqual([
    ["00:00:00 Pending", "00:00:01 Running", "00:07:50 deleting"],
    ["00:07:51 Pending", "00:07:52 Running", "00:17:52 Succeeded"],
  ]);
  expect(played.pods.at(-1)!.state.node).toBe("node-2");
  expect(played.events).toMatchObject([{ involved: { kind: "Node", name: "node-1" } }]);
});

test("a node that is back in time reports what its pods did meanwhile, and when", async () => {
  const played = await runScenario(eventYaml("at: +8m, for: 4m, nodeLost: node-1"));
  expect(histories(played)).toEqual([["00:00:00 Pending", "00:00:01 Running", "00:12:00 Succeeded"]]);
  expect(played.pods.at(-1)!.state.finishedAt).toBe("2026-01-01T00:10:01Z");
});

test("a node that is back late removes the pod that was evicted", async () => {
  const played = await runScenario(eventYaml("at: +1m, for: 8m, nodeLost: node-1"));
  expect(histories(played)[0]).toEqual(["00:00:00 Pending", "00:00:01 Running", "00:06:50 deleting", "00:09:00 gone"]);
});

test("pods that never started have no times in the trace", async () => {
  const played = await runScenario(eventYaml("at: +500ms, for: 8m, nodeLost: node-1"));
  const ended = played.pods.find(({ state }) => state.phase === "Failed")!;
  expect(ended.state).toEqual({ phase: "Failed", node: "node-1", exitCode: 137, deleting: true });
});

test("a node object that is deleted leaves its pods to PodGC", async () => {
  const text = "events:\n  - { at: +1m, nodeLost: node-1 }\n  - { at: +10m, delete: { kind: Node, name: node-1 } }";
  const played = await runScenario(text, "podReplacementPolicy: Failed");
  const [lost, second] = histories(played);
  expect(lost!.at(-1)).toMatch(/^00:1[01]:\d\d gone$/);
  expect(second![0]).toMatch(/^00:1[01]:\d\d Pending$/);
});

test("draining evicts running pods and admits no new ones until it ends", async () => {
  const played = await runScenario(
    eventYaml("at: +1m, for: 20m, nodeDrained: node-1"),
    "parallelism: 4\n      completions: 5",
  );
  const nodes = played.pods.filter(
    ({ change, state }) => change === "MODIFIED" && state.phase === "Running" && !state.deleting,
  );
  expect(nodes.map(({ at, state }) => `${time(at)} ${state.node}`)).toEqual([
    "00:00:01 node-1",
    "00:00:01 node-1",
    "00:00:01 node-2",
    "00:00:01 node-2",
    // The two evicted pods find no room before the pods on node-2 have ended.
    "00:10:02 node-2",
    "00:10:02 node-2",
    "00:20:03 node-2",
  ]);
  const events = played.records.flatMap((record) => (record.type === "event" ? [record] : []));
  expect(events.filter(({ reason }) => reason === "FailedScheduling").map(({ message }) => message)).toContain(
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.",
  );
});

test("a NoExecute taint immediately evicts pods that do not tolerate it", async () => {
  const text = eventYaml("at: +1m, nodeTainted: { node: node-1, key: maintenance, effect: NoExecute }");
  expect(histories(await runScenario(text))[0]).toContain("00:01:00 deleting");
  const tolerant = "tolerations: [{ key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 90 }]";
  expect(histories(await runScenario(text, "", tolerant))[0]).toContain("00:02:30 deleting");
  const patient = "tolerations: [{ key: maintenance, operator: Exists }]";
  expect(histories(await runScenario(text, "", patient))).toEqual([
    ["00:00:00 Pending", "00:00:01 Running", "00:10:01 Succeeded"],
  ]);
});

test("evicted pods are replaced", async () => {
  const played = await runScenario(
    eventYaml("at: +1m, podEvicted: { job: work, count: 2 }"),
    "parallelism: 3\n      completions: 3",
  );
  expect(histories(played).map((history) => history.at(-1))).toEqual([
    "00:01:01 gone",
    "00:01:01 gone",
    "00:10:01 Succeeded",
    // Two failures cause a back-off of twenty seconds.
    "00:11:21 Succeeded",
    "00:11:21 Succeeded",
  ]);
});

test("while the API server is down containers keep running, and all components catch up afterwards", async () => {
  const played = await runScenario(eventYaml("at: +5m, for: 15m, apiServerDown: all"), "completions: 2");
  const [first, second] = histories(played);
  // The kubelet retries every ten seconds, the controllers' watches within thirty.
  expect(first!.at(-1)).toMatch(/^00:20:0\d Succeeded$/);
  expect(second![0]).toMatch(/^00:20:[0-3]\d Pending$/);
  const ended = played.pods.find(({ state }) => state.phase === "Succeeded");
  expect(ended!.state.finishedAt).toBe("2026-01-01T00:10:01Z");
});

test("a slow API server delays the kubelet for each request", async () => {
  const played = await runScenario(eventYaml("at: +0s, for: 1h, apiServerSlow: { by: 20s, components: [kubelet] }"));
  const running = played.pods.find(({ state }) => state.phase === "Running");
  expect(time(running!.at)).toBe("00:00:21");
  expect(running!.state.startedAt).toBe("2026-01-01T00:00:01Z");
});

test("controllers whose clock is set forward run CronJobs early by the same amount", async () => {
  const cron = `events:
  - { at: +10m, clockJump: +5m }
  - at: +1m
    apply:
      apiVersion: batch/v1
      kind: CronJob
      metadata: { name: tick }
      spec:
        schedule: "*/20 * * * *"
        jobTemplate:
          spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } }`;
  const { records, problems } = await runScenario(cron);
  const jobs = records.flatMap((record) =>
    record.type === "object" && record.kind === "Job" && record.change === "ADDED" && record.name.startsWith("tick")
      ? [`${time(record.at)} for ${time(record.state.scheduledFor!)}`]
      : [],
  );
  expect(problems).toEqual([]);
  // The first timer was set before the jump, which does not change monotonic time.
  expect(jobs).toEqual(["00:20:00 for 00:20:00", "00:35:00 for 00:40:00", "00:55:00 for 01:00:00"]);
});

test("a suspension for a limited time ends with a resume", async () => {
  const played = await runScenario(eventYaml("at: +2m, for: 20m, suspend: { kind: Job, name: work }"));
  expect(histories(played)).toEqual([
    ["00:00:00 Pending", "00:00:01 Running", "00:02:00 deleting", "00:02:01 gone"],
    ["00:22:00 Pending", "00:22:01 Running", "00:32:01 Succeeded"],
  ]);
});

test("a killed controller does nothing, and a restarted one starts with empty caches and does the remaining work", async () => {
  const text = `events:
  - { at: +9m, controllerDown: job-controller }
  - { at: +30m, controllerUp: all }`;
  const played = await runScenario(text, "completions: 2");
  expect(histories(played)[1]![0]).toBe("00:30:00 Pending");
  expect(played.events[0]).toMatchObject({ kind: "controllerDown", until: "2026-01-01T00:30:00.000Z" });
  const decisions = played.records.filter(
    (record) => record.type === "decision" && record.controller === "job-controller",
  );
  expect(decisions.filter(({ at }) => at > "2026-01-01T00:09" && at < "2026-01-01T00:30")).toEqual([]);
});

test("a refused user action is reported with its place, and the run continues", async () => {
  const text = `events:
  - at: +1m
    patch: { kind: Job, name: work, with: { spec: { completions: -1 } } }
  - { at: +2m, for: 1m, apiServerDown: [user] }
  - at: +2m30s
    patch: { kind: Job, name: work, with: { metadata: { labels: { a: b } } } }`;
  const { problems, events, pods } = await runScenario(text);
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/^s\.yaml:9:5: patch failed: Job\.batch "work" is invalid: .*completions/);
  expect(problems[1]).toMatch(/^s\.yaml:12:5: patch failed: connect ECONNREFUSED/);
  expect(events.filter(({ message }) => message.includes("failed"))).toHaveLength(2);
  expect(pods.at(-1)!.state.phase).toBe("Succeeded");
});

test("a scenario without events is simulated on the plain cluster", async () => {
  const { records } = await runScenario("timeZone: Europe/Berlin");
  expect(records.filter(({ type }) => type === "scenarioEvent")).toEqual([]);
});
