import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { Ajv } from "ajv";
import { expect, test } from "vitest";

import { kubewright } from "./memory-io.js";

function schema(name: string): (document: unknown) => void {
  const text = readFileSync(fileURLToPath(new URL(`../${name}.schema.json`, import.meta.url)), "utf8");
  const validate = new Ajv({ strict: true }).compile(JSON.parse(text) as object);
  return (document) => expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
}

const cronJob = (name: string, namespace: string, duration: string, more = ""): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  schedule: "0 * * * *"
  jobTemplate:
    spec:
      parallelism: 2
      completions: 2
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: ${duration} } }
        spec:
          restartPolicy: Never
          containers: [{ name: c, image: busybox, resources: { requests: { cpu: 500m, memory: 1Gi } } }]
          ${more}
---`;

/** Nodes of one size, a group of nodes, and a label that two nodes share. */
const scenario = `
apiVersion: sim.kubewright.dev/v1
kind: Scenario
for: 10h
nodes:
  - { name: a-small, cpu: 1, memory: 4Gi }
  - { name: small, count: 2, cpu: 1, memory: 4Gi }
  - { name: spot, cpu: 8, memory: 32Gi, labels: { karpenter.sh/nodepool: batch, kind: batch } }
  - { name: reserved, cpu: 16, memory: 64Gi, labels: { karpenter.sh/nodepool: batch, kind: batch } }
manifests: [in.yaml]
`;

const files = {
  // Half of each hour, and a thirtieth of each hour.
  "in.yaml": `${cronJob("long", "billing", "29m59s")}${cronJob("short", "web", "2m", "nodeSelector: { kind: batch }")}`,
  "scenario.yaml": scenario,
};

interface Level {
  readonly max: number;
  readonly p95OverTime: number;
}

interface Concurrent {
  readonly pods: Level;
  readonly cores: Level;
  readonly memoryBytes: Level;
}

const usage = (max: readonly number[], usual: readonly number[]): Concurrent => ({
  pods: { max: max[0]!, p95OverTime: usual[0]! },
  cores: { max: max[1]!, p95OverTime: usual[1]! },
  memoryBytes: { max: max[2]! * 2 ** 30, p95OverTime: usual[2]! * 2 ** 30 },
});

test("a run ends with the most at once and what was usual: of all, of namespaces, of pools of nodes", async () => {
  const args = ["run", "--scenario", "scenario.yaml"];
  const { stdout, written } = await kubewright([...args, "--json", "trace.jsonl"], { files });
  const end = JSON.parse(written["trace.jsonl"]!.trimEnd().split("\n").at(-1)!) as { readonly concurrent: object };
  schema("trace")(end);
  expect(end.concurrent).toEqual({
    // The short ones run 3.4 % of the time.
    ...usage([4, 2, 4], [2, 1, 2]),
    namespaces: [
      { namespace: "billing", ...usage([2, 1, 2], [2, 1, 2]) },
      { namespace: "web", ...usage([2, 1, 2], [0, 0, 0]) },
    ],
    pools: [
      { pool: "1 core, 4Gi", ...usage([2, 1, 2], [2, 1, 2]) },
      { pool: "batch", ...usage([2, 1, 2], [0, 0, 0]) },
    ],
  });
  expect(stdout).toMatch(
    /^Most at once +pods +95% of time +cores requested +95% of time +memory requested +95% of time$/m,
  );
  expect(stdout).toMatch(/^all together +4 +2 +2 +1 +4Gi +2Gi$/m);
  expect(stdout).toMatch(/^namespace web +2 +0 +1 +0 +2Gi +0Mi$/m);
  expect(stdout).toMatch(/^node pool 1 core, 4Gi +2 +2 +1 +1 +2Gi +2Gi$/m);
});

test("many futures have the same of each, with its quantiles and the worst seed, as the schema has it", async () => {
  const manifests = cronJob("some", "billing", "10m..50m");
  const args = ["run", "in.yaml", "--for", "10h", "--seeds", "1-20"];
  const { stdout: json } = await kubewright([...args, "--json", "-"], { files: { "in.yaml": manifests } });
  const document = JSON.parse(json) as {
    readonly concurrent: Record<"pools" | "namespaces" | "p95OverTime", object[]>;
  };
  schema("futures")(document);
  const always = (level: number): object => ({ p50: level, p95: level, p99: level, max: level, seed: 1 });
  const levels = { pods: always(2), cores: always(1), memoryBytes: always(2 ** 31) };
  expect(document.concurrent).toEqual({
    ...levels,
    p95OverTime: levels,
    namespaces: [{ namespace: "billing", ...levels, p95OverTime: levels }],
    pools: [{ pool: "16 cores, 64Gi", ...levels, p95OverTime: levels }],
  });
  const { stdout } = await kubewright([...args, "--scenario", "scenario.yaml"], {
    files: { ...files, "in.yaml": manifests + files["in.yaml"] },
  });
  expect(stdout).toMatch(/^pods +6 +6 +6 +6 \(seed 1\)\n {2}95% of the time no more than +4 +4 +4 +4 \(seed 1\)$/m);
  expect(stdout).toMatch(/^at once by node pool +pods p95 +worst +95% time +cores p95/m);
  expect(stdout).toMatch(/^batch +4 +4 +2 +2 +2 +1 +4Gi +4Gi +2Gi$/m);
});

const limited = `
apiVersion: v1
kind: ResourceQuota
metadata: { name: small, namespace: billing }
spec: { hard: { pods: "3", count/jobs.batch: "4" } }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: narrow, namespace: batch }
spec: { hard: { pods: "3", requests.cpu: "1600m" } }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: strict, namespace: web }
spec: { hard: { limits.cpu: "8" } }
---
apiVersion: batch/v1
kind: Job
metadata: { name: wide, namespace: batch }
spec:
  parallelism: 7
  completions: 7
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 2m..3m } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, resources: { requests: { cpu: 500m } } }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: unlimited, namespace: web }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: piling, namespace: billing }
spec:
  schedule: "0 1-23 * * *"
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 150m..250m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
---
`;

interface Refused {
  readonly futures: number;
  readonly perFuture: { readonly share: number };
  readonly pods: number;
  readonly jobs: number;
  readonly worst: { readonly seed: number; readonly pods: number; readonly jobs: number };
}

test("refusals are reported by quota, resource and reason: share of the futures, amount, worst seed", async () => {
  const large = cronJob("large", "default", "70m", "").replaceAll("500m", '"6"').replaceAll(": 2\n", ": 9\n");
  const own = { "in.yaml": limited + large };
  const args = ["run", "in.yaml", "--for", "8h", "--seeds", "1-10"];
  const { stdout: json } = await kubewright([...args, "--json", "-"], { files: own });
  const { refused, ...document } = JSON.parse(json) as {
    readonly refused: {
      readonly quotas: readonly (Refused & { readonly quota: string; readonly resource: string })[];
      readonly nodes: readonly (Refused & { readonly reason: string })[];
    };
  };
  schema("futures")({ ...document, refused });
  const always = (pods: number): object => ({
    futures: 10,
    perFuture: { share: 1, low: expect.closeTo(0.72, 2) as number, high: 1 },
    pods: 10 * pods,
    jobs: 0,
    worst: { seed: 1, pods, jobs: 0 },
  });
  const [wide, wideCpu, runs, pods, limits, ...others] = refused.quotas;
  expect(others).toEqual([]);
  // Three of seven pods have room, and the fourth exceeds both quotas; when one of the first ends, the next is created.
  expect(wide).toEqual({ namespace: "batch", quota: "narrow", resource: "pods", ...always(4) });
  expect(wideCpu).toEqual({ namespace: "batch", quota: "narrow", resource: "requests.cpu", ...always(4) });
  // Of four concurrent runs the fourth waits for a pod.
  expect(runs).toMatchObject({ quota: "small", resource: "count/jobs.batch", pods: 0 });
  expect(runs!.jobs).toBeGreaterThan(0);
  expect(pods).toMatchObject({ namespace: "billing", quota: "small", resource: "pods", jobs: 0 });
  expect(pods!.worst.pods).toBeGreaterThan(0);
  expect(limits).toEqual({ namespace: "web", quota: "strict", resource: "limits.cpu", ...always(1) });
  // Two pods of six cores on each of three nodes; the next run starts while they exist.
  expect(refused.nodes.map(({ reason, futures }) => [reason, futures])).toEqual([["Insufficient cpu", 10]]);
  expect(refused.nodes[0]!.worst.pods).toBeGreaterThanOrEqual(3);
  const { stdout } = await kubewright(args, { files: own });
  expect(stdout).toMatch(/^had no room at first +in a future +worst$/m);
  expect(stdout).toMatch(/^quota web\/strict: limits\.cpu +100% \(72\.2–100\) +seed 1: 1 pod$/m);
  expect(stdout).toMatch(/^quota billing\/small: count\/jobs\.batch +[\d.]+% \([\d.–]+\) +seed \d+: \d+ Jobs?$/m);
  expect(stdout).toMatch(/^nodes: Insufficient cpu +100% \(72\.2–100\) +seed \d+: \d+ pods$/m);
});
