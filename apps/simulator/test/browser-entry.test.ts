import { expect, test } from "vitest";

import { kubewright } from "./memory-io.js";
import {
  check,
  htmlReport,
  needsExpressions,
  needsSharding,
  packData,
  runSimulation,
  simulateFutures,
  trace,
} from "../../../packages/analysis/src/browser/index.js";

const cronJob = (name: string, schedule: string, more = ""): string => `apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name} }
spec:
  schedule: "${schedule}"
  jobTemplate:
    spec:${more}
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: busybox
`;

test("play simulates texts: it returns the report, the command's output and the command line", async () => {
  const manifests = cronJob("a", "0 * * * *");
  const shares: number[] = [];
  const simulated = await runSimulation(
    {
      manifests,
      start: "2026-03-01T00:00:00Z",
      for: "6h",
      seed: 3,
      timeZone: "Europe/Berlin",
      kubernetesVersion: "1.35",
    },
    { onProgress: (share) => shares.push(share) },
  );
  expect(simulated.problems).toEqual([]);
  expect(simulated.report?.groups.map(({ name, rows }) => [name, rows.length])).toEqual([["a", 6]]);
  expect(shares.at(-1)).toBe(1);
  expect(simulated.command).toBe(
    "kubewright run manifests.yaml --start 2026-03-01T00:00:00Z --for 6h --controller-time-zone Europe/Berlin --kubernetes 1.35 --seed 3",
  );
  const { stdout } = await kubewright(simulated.command.split(" ").slice(1), {
    files: { "manifests.yaml": manifests },
  });
  expect(simulated.summary).toBe(stdout);
});

test("mistakes have their places, and valid objects are simulated", async () => {
  const manifests = [
    cronJob("right", "0 * * * *"),
    cronJob("typo", "0 * * * *", " # odd\n      backofLimit: 3"),
    cronJob("late", "0 25 * * *"),
    "spec: [\n",
  ].join("---\n");
  const simulated = await runSimulation({ manifests, for: "2h" });
  expect(simulated.report?.groups.map(({ name }) => name)).toEqual(["right"]);
  expect(simulated.problems).toMatchObject([
    {
      document: "manifests",
      line: 22,
      column: 7,
      endColumn: 18,
      object: "CronJob typo",
      field: "spec.jobTemplate.spec.backofLimit",
      message: "unknown field",
      hint: expect.stringContaining("backoffLimit") as string,
      severity: "error",
    },
    { line: 34, column: 13, endColumn: 25, field: "spec.schedule", severity: "error" },
    { line: 45, message: expect.stringContaining("not YAML") as string, severity: "error" },
  ]);
  expect(await check({ manifests })).toEqual(simulated.problems);
});

test("mistakes in one text do not hide mistakes in another", async () => {
  const problems = await check({
    manifests: cronJob("late", "0 25 * * *"),
    scenario: "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nseeds: 3\n",
    workloads: "kind: Workload\n",
  });
  expect([...new Set(problems.map(({ document }) => document))]).toEqual(["manifests", "workloads", "scenario"]);
});

test("empty input and input without workloads are reported, not thrown", async () => {
  const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";
  for (const [request, message] of [
    [{ manifests: "" }, "no Kubernetes objects found"],
    [{ manifests: config }, "nothing to simulate"],
    [{ manifests: cronJob("a", "0 * * * *"), start: "yesterday" }, "is not a time"],
    [{ manifests: cronJob("a", "0 * * * *"), seed: -1 }, "is not a whole number"],
    [{ manifests: cronJob("a", "0 * * * *"), scenario: "kind: [" }, "not YAML"],
  ] as const) {
    const simulated = await runSimulation(request);
    expect(simulated.report).toBeUndefined();
    expect(simulated.problems[0]?.message).toContain(message);
  }
  await expect(trace({ manifests: "" })).rejects.toThrow("manifests.yaml: no Kubernetes objects found");
});

test("an aborted signal rejects with its reason", async () => {
  const stop = new AbortController();
  const reason = new Error("typed on");
  const simulating = runSimulation(
    { manifests: cronJob("a", "0 * * * *"), for: "3650d" },
    { signal: stop.signal, onProgress: () => stop.abort(reason) },
  );
  await expect(simulating).rejects.toBe(reason);
  const futures = simulateFutures(
    { manifests: cronJob("a", "0 * * * *"), for: "3650d", seeds: "1-1000" },
    { signal: stop.signal },
  );
  await expect(futures).rejects.toBe(reason);
});

test("many futures are counted as the command counts them", async () => {
  const manifests = cronJob("a", "0 * * * *");
  const workloads =
    "apiVersion: sim.kubewright.dev/v1\nkind: Workloads\nworkloads:\n  - select: { name: a }\n    exitCode: { 0: 0.5, 1: 0.5 }\n";
  const { report, summary, problems, command } = await simulateFutures({
    manifests,
    workloads,
    for: "4h",
    seeds: "1-3",
  });
  expect(problems).toEqual([]);
  expect(report).toMatchObject({ page: "futures", simulated: 3, embedded: [], seeds: { first: 1, last: 3 } });
  const files = { "manifests.yaml": manifests, "workloads.yaml": workloads };
  expect((await kubewright(command.split(" ").slice(1), { files })).stdout).toContain(summary);
});

test("the page holds the run, under its policy", async () => {
  const page = { script: "'the script'", style: "b{}" };
  const html = await htmlReport({ manifests: cronJob("a", "0 * * * *"), for: "2h" }, { page });
  expect(html).toContain("script-src 'sha256-");
  const { report } = await runSimulation({ manifests: cronJob("a", "0 * * * *"), for: "2h" });
  expect(html.replace(/\s/g, "").length).toBeGreaterThan((await packData(report!)).length);
});

test("scenarios with managers that share work need what these are made of", () => {
  expect(needsSharding({ scenario: "controllerManagers: 2" })).toBe(false);
  for (const scenario of ["controllers: { sharding: true }", 'controllers: { "sh\\x61rding": true }'])
    expect(needsSharding({ scenario })).toBe(true);
});

test("definitions, policies and what is escaped need what evaluates expressions", () => {
  expect(needsExpressions({ manifests: cronJob("a", "0 * * * *") })).toBe(false);
  for (const text of ["kind: CustomResourceDefinition", "kind: ValidatingAdmissionPolicy", 'kind: "\\x43RD"'])
    expect(needsExpressions({ manifests: "", scenario: text })).toBe(true);
});
