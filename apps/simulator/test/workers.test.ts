import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

import { threadFailure } from "../src/nodejs/out-of-memory-error.js";
import { type MemoryIoOptions, type CommandResult, kubewright } from "./memory-io.js";

const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly spec: string;
  readonly duration?: string;
  readonly exitCode?: string;
  readonly job?: string;
  readonly requests?: string;
}

const template = ({ duration = "40s", exitCode = "0", requests = "{}" }: Omit<Workload, "spec">): string => `
        metadata: { annotations: { sim.kubewright.dev/duration: "${duration}", sim.kubewright.dev/exit-code: "${exitCode}" } }
        spec:
          restartPolicy: Never
          containers: [{ name: c, image: busybox, resources: { requests: ${requests} } }]`;

const cronJob = (workload: Workload): string => `---
apiVersion: batch/v1
kind: CronJob
metadata: { name: ${workload.name}, namespace: ${workload.namespace} }
spec:
  ${workload.spec}
  jobTemplate:
    spec:
      ${workload.job ?? "backoffLimit: 1"}
      template:${template(workload)}
`;

const job = (workload: Workload): string => `---
apiVersion: batch/v1
kind: Job
metadata: { name: ${workload.name}, namespace: ${workload.namespace} }
spec:
  ${workload.spec}
  template:${template(workload).replaceAll("\n  ", "\n")}
`;

/** Three namespaces with runs at the same instants. */
const threeNamespaces = ["billing", "search", "ops"]
  .map((namespace, index) =>
    [
      cronJob({ namespace, name: "report", spec: 'schedule: "*/20 * * * *"', duration: "30s..5m" }),
      cronJob({ namespace, name: "sync", spec: `schedule: "${index} * * * *"`, requests: '{ cpu: "500m" }' }),
    ].join(""),
  )
  .join("");

const SHAPES: Record<string, { readonly yaml: string; readonly scenario?: string; readonly args?: readonly string[] }> =
  {
    "three namespaces": { yaml: threeNamespaces },
    "nights in which clocks change": {
      yaml: [
        ["berlin", "Europe/Berlin"],
        ["new-york", "America/New_York"],
        ["utc", "Etc/UTC"],
      ]
        .map(([namespace, zone]) =>
          cronJob({ namespace: namespace!, name: "night", spec: `schedule: "30 2 * * *"\n  timeZone: ${zone}` }),
        )
        .join(""),
      args: ["--start", "2026-03-07T00:00:00Z", "--for", "2d"],
    },
    "runs that overrun, under three policies": {
      yaml: ["Allow", "Forbid", "Replace"]
        .map((policy) =>
          cronJob({
            namespace: policy.toLowerCase(),
            name: "long",
            spec: `schedule: "*/10 * * * *"\n  concurrencyPolicy: ${policy}\n  startingDeadlineSeconds: 120`,
            duration: "5m..25m",
          }),
        )
        .join(""),
    },
    "failures, retries and times to live": {
      yaml: ["a", "b"]
        .map((namespace) =>
          [
            cronJob({
              namespace,
              name: "flaky",
              spec: 'schedule: "*/15 * * * *"',
              exitCode: "0=50%,1=50%",
              job: "backoffLimit: 2\n      ttlSecondsAfterFinished: 600",
            }),
            job({
              namespace,
              name: "once",
              spec: "parallelism: 3\n  completions: 5\n  backoffLimit: 4",
              duration: "1m..9m",
            }),
          ].join(""),
        )
        .join(""),
    },
    "events that each concern one namespace": {
      yaml: threeNamespaces,
      scenario: `
apiVersion: sim.kubewright.dev/v1
kind: Scenario
events:
  - { at: +1h, for: 2h, suspend: { kind: CronJob, namespace: billing, name: report } }
  - { at: +90m, delete: { kind: CronJob, namespace: search, name: sync } }
  - at: +2h
    apply: { apiVersion: batch/v1, kind: Job, metadata: { name: extra, namespace: later }, spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } } }
  - { at: +150m, patch: { kind: CronJob, namespace: search, name: sync, with: { spec: { suspend: true } } } }
`,
    },
  };

const OUTPUTS = ["--json", "t.jsonl", "--html", "t.html", "--runs", "t.csv", "--ics", "t.ics", "--markdown", "t.md"];
const PAGE: NonNullable<MemoryIoOptions["pageAssets"]> = async () => ({
  script: "",
  style: "",
  scriptHash: "",
  styleHash: "",
});

interface RunResult extends CommandResult {
  readonly hash: string;
}

async function runJob(
  { yaml, scenario, args = ["--for", "3h"] }: (typeof SHAPES)[string],
  more: readonly string[],
  options: MemoryIoOptions = {},
): Promise<RunResult> {
  const files = { "all.yaml": yaml, ...(scenario === undefined ? {} : { "scenario.yaml": scenario }) };
  const ran = await kubewright(
    ["run", "all.yaml", ...(scenario === undefined ? [] : ["--scenario", "scenario.yaml"]), ...args, ...more],
    { files, pageAssets: PAGE, ...options },
  );
  return { ...ran, hash: createHash("sha256").update(JSON.stringify(ran)).digest("hex") };
}

test.for(Object.keys(SHAPES))("%s are the same bytes with 1, 2 and 3 workers", { timeout: 60_000 }, async (name) => {
  const rules = ["--fail-on", "failed", "--fail-on", "peak-pods>3", "--fail-on", "late>1s", "--fail-on", "skipped"];
  const [one, two, three] = [
    await runJob(SHAPES[name]!, [...OUTPUTS, ...rules, "--workers", "1"]),
    await runJob(SHAPES[name]!, [...OUTPUTS, ...rules, "--workers", "2"]),
    await runJob(SHAPES[name]!, [...OUTPUTS, ...rules, "--workers", "3"]),
  ];
  expect(one.code, one.stderr).toBeLessThan(2);
  expect(one.stderr).not.toContain("in one piece");
  expect(one.written["t.jsonl"]!.split("\n").length).toBeGreaterThan(100);
  expect([two.hash, three.hash]).toEqual([one.hash, one.hash]);
});

test("records are ordered by time, then by namespace, and match the counts of the summary", async () => {
  const { stdout, written } = await runJob(SHAPES["three namespaces"]!, ["--json", "t.jsonl", "--workers", "2"]);
  const records = written["t.jsonl"]!.trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceLine);
  expect(records.at(0)).toMatchObject({ type: "header", seed: 1 });
  expect(records.at(-1)).toMatchObject({ type: "end", at: "2026-01-01T03:00:00.000Z" });
  const keys = records.slice(1, -1).map((record) => `${record.at} ${namespaceOf(record)}`);
  expect(keys).toEqual([...keys].sort());
  expect(new Set(keys.map((key) => key.split(" ")[1]))).toEqual(new Set(["billing", "ops", "search"]));
  const jobs = records.filter((record) => record.kind === "Job" && record.change === "ADDED");
  expect(stdout).toContain(`Jobs  ${jobs.length} run`);
  const uids = records.filter(({ change }) => change === "ADDED").map(({ uid }) => uid);
  expect(new Set(uids).size).toBe(uids.length);
  const nodes = new Set(records.flatMap(({ state }) => (state?.node === undefined ? [] : [state.node])));
  expect([...nodes].sort()).toEqual(["billing-node-1", "ops-node-1", "search-node-1"]);
});

interface TraceLine {
  readonly type: string;
  readonly at: string;
  readonly kind?: string;
  readonly change?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly state?: { readonly node?: string };
  readonly involved?: { readonly namespace: string };
  readonly decision?: {
    readonly key?: string;
    readonly namespace?: string;
    readonly object?: { readonly namespace: string };
  };
}

function namespaceOf({ namespace, involved, decision }: TraceLine): string | undefined {
  return (
    namespace ??
    involved?.namespace ??
    decision?.namespace ??
    decision?.object?.namespace ??
    decision?.key?.split("/")[0]
  );
}

test("a namespace's records do not depend on other namespaces", async () => {
  const [alone, together] = [
    await runJob({ yaml: cronJob({ namespace: "search", name: "report", spec: 'schedule: "*/20 * * * *"' }) }, [
      "--json",
      "t.jsonl",
      "--workers",
      "1",
    ]),
    await runJob(
      {
        yaml: ["billing", "search"]
          .map((namespace) => cronJob({ namespace, name: "report", spec: 'schedule: "*/20 * * * *"' }))
          .join(""),
      },
      ["--json", "t.jsonl", "--workers", "2"],
    ),
  ];
  const ofSearch = (ran: CommandResult): string[] =>
    ran.written["t.jsonl"]!.split("\n").filter(
      (line) => line !== "" && namespaceOf(JSON.parse(line) as TraceLine) === "search",
    );
  expect(ofSearch(alone).length).toBeGreaterThan(100);
  expect(ofSearch(together)).toEqual(ofSearch(alone));
});

/** Resources that namespaces share, and the line that reports it. */
const SHARED: Record<string, { readonly yaml?: string; readonly scenario?: string; readonly line: string }> = {
  "insufficient room on nodes": {
    yaml: `${threeNamespaces}${job({ namespace: "ops", name: "wide", spec: "parallelism: 60", requests: "{ cpu: 1 }" })}`,
    line: "at 2026-01-01T00:00:00Z pod ops/wide-",
  },
  "ended pods that PodGC counts together": {
    scenario: "controllers: { terminatedPodGCThreshold: 5 }",
    line: "there are more than 5 ended pods, which PodGC counts together",
  },
  "nodes that a scenario names": {
    scenario: "nodes: [{ name: big, count: 2 }]",
    line: "namespaces share the nodes that the scenario names",
  },
  "a node that a manifest makes": {
    yaml: `${threeNamespaces}---\napiVersion: v1\nkind: Node\nmetadata: { name: mine }\n`,
    line: "namespaces share the node mine (all.yaml:",
  },
  "a node that a pod names": {
    yaml: threeNamespaces.replace("restartPolicy: Never", "restartPolicy: Never\n          nodeName: node-1"),
    line: "CronJob billing/report names a node",
  },
  "several controller managers": {
    scenario: "controllerManagers: 2",
    line: "namespaces share the Lease of several controller managers",
  },
  "a node that is lost": {
    scenario: "events: [{ at: +1h, nodeLost: node-1 }]",
    line: "the event nodeLost (scenario.yaml:3:10) is not about a single namespace",
  },
  "a controller that is down": {
    scenario: "events: [{ at: +1h, for: 10m, controllerDown: job-controller }]",
    line: "the event controllerDown (scenario.yaml:3:10) is not about a single namespace",
  },
  "an API server that cannot be reached": {
    scenario: "events: [{ at: +1h, for: 10m, apiServerDown: all }]",
    line: "the event apiServerDown (scenario.yaml:3:10) is not about a single namespace",
  },
  "the deletion of a cluster-scoped object": {
    scenario: "events: [{ at: +1h, delete: { kind: Namespace, name: ops } }]",
    line: "the event delete (scenario.yaml:3:10) is not about a single namespace",
  },
};

test.for(Object.keys(SHARED))("%s: what was played apart is void, and one piece is played", async (name) => {
  const { yaml = threeNamespaces, scenario, line } = SHARED[name]!;
  const shape = {
    yaml,
    args: ["--for", "2h"],
    ...(scenario === undefined ? {} : { scenario: `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n${scenario}\n` }),
  };
  const whole = await runJob(shape, OUTPUTS);
  const parallel = await runJob(shape, [...OUTPUTS, "--workers", "2"]);
  const [first = "", ...others] = parallel.stderr.split("\n");
  expect(first).toContain("kubewright: --workers: simulated on one thread, as without --workers: ");
  expect(first).toContain(line);
  expect({ ...parallel, stderr: others.join("\n"), hash: "" }).toEqual({ ...whole, hash: "" });
  const otherCount = await runJob(shape, [...OUTPUTS, "--workers", "3"]);
  expect(otherCount.stderr).toBe(parallel.stderr);
});

test("nothing of a discarded run is written to standard output", async () => {
  const shape = { yaml: SHARED["insufficient room on nodes"]!.yaml!, args: ["--for", "2h"] };
  const whole = await runJob(shape, ["--json", "-"]);
  const parallel = await runJob(shape, ["--json", "-", "--workers", "2"]);
  expect(parallel.stderr).toContain("simulated on one thread");
  expect(parallel.stdout).toBe(whole.stdout);
});

test("a pod that fits on no node waits in its own segment", async () => {
  const yaml = threeNamespaces.replace(
    "restartPolicy: Never",
    "restartPolicy: Never\n          nodeSelector: { pool: gpu }\n          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: pool, operator: DoesNotExist }] }] } } }",
  );
  const { stderr, stdout } = await runJob({ yaml, args: ["--for", "2h"] }, ["--workers", "2"]);
  expect(stderr).toBe("");
  expect(stdout).toContain("billing/report: 6 runs waited for a node");
});

test("objects of a live cluster continue, each in its namespace", async () => {
  const live = (namespace: string, index: number): string => `---
apiVersion: batch/v1
kind: Job
metadata: { name: half-way, namespace: ${namespace}, uid: job-${index}, creationTimestamp: "2026-01-01T00:00:00Z", labels: { job-name: half-way } }
spec:
  selector: { matchLabels: { batch.kubernetes.io/controller-uid: job-${index} } }
  template:
    metadata: { labels: { batch.kubernetes.io/controller-uid: job-${index} } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
status: { startTime: "2026-01-01T00:00:00Z", active: 1 }
---
apiVersion: v1
kind: Pod
metadata:
  name: half-way-x
  namespace: ${namespace}
  uid: pod-${index}
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: { batch.kubernetes.io/controller-uid: job-${index} }
  finalizers: [batch.kubernetes.io/job-tracking]
  ownerReferences: [{ apiVersion: batch/v1, kind: Job, name: half-way, uid: job-${index}, controller: true, blockOwnerDeletion: true }]
spec: { nodeName: worker-7, restartPolicy: Never, containers: [{ name: c, image: busybox }] }
status: { phase: Running, startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: c, state: { running: { startedAt: "2026-01-01T00:00:01Z" } } }] }
`;
  const shape = { yaml: `${threeNamespaces}${live("billing", 1)}${live("ops", 2)}`, args: ["--for", "1h"] };
  const one = await runJob(shape, ["--json", "t.jsonl", "--workers", "1"]);
  const two = await runJob(shape, ["--json", "t.jsonl", "--workers", "2"]);
  expect(one.stderr).not.toContain("in one piece");
  expect(two.hash).toBe(one.hash);
  for (const namespace of ["billing", "ops"])
    expect(one.stdout).toMatch(new RegExp(`Job ${namespace}/half-way[^]*Complete in`));
});

test("nodes are added in the namespace whose pods want them", async () => {
  const yaml = threeNamespaces.replace(
    "restartPolicy: Never",
    "restartPolicy: Never\n          nodeSelector: { pool: gpu }",
  );
  const { stderr, stdout } = await runJob({ yaml, args: ["--for", "2h"] }, ["--workers", "2"]);
  expect(stderr).toBe("");
  expect(stdout).toContain("billing-other-node-1: pool=gpu, for CronJob billing/report");
  expect(stdout).not.toContain("waited for a node");
});

test("mistakes in manifests are reported as without workers, and nothing is written", async () => {
  const shape = {
    yaml: `${threeNamespaces}${cronJob({ namespace: "ops", name: "wrong", spec: 'schedule: "never"' })}`,
  };
  const whole = await runJob(shape, [...OUTPUTS, "--strict"]);
  const parallel = await runJob(shape, [...OUTPUTS, "--strict", "--workers", "2"]);
  expect({ code: parallel.code, stderr: parallel.stderr, written: parallel.written }).toEqual({
    code: 2,
    stderr: whole.stderr,
    written: {},
  });
});

test.for([
  [["--workers", "0"], '--workers: "0" is not a whole number from 1 to 256'],
  [["--workers", "two"], '--workers: "two" is not a whole number from 1 to 256'],
  [["--workers", "257"], '--workers: "257" is not a whole number from 1 to 256'],
  [
    ["--workers", "2", "--against", "all.yaml"],
    "--workers simulates one cluster on several threads, and --against compares two: leave out one of them",
  ],
] as const)("%j is refused in a line", async ([flags, message]) => {
  const { code, stderr, stdout } = await runJob(SHAPES["three namespaces"]!, flags);
  expect({ code, stderr, stdout }).toEqual({ code: 2, stderr: `kubewright: ${message}\n`, stdout: "" });
});

test("no more workers than namespaces are used", async () => {
  const one = await runJob(SHAPES["three namespaces"]!, ["--workers", "1"]);
  expect((await runJob(SHAPES["three namespaces"]!, ["--workers", "256"])).hash).toBe(one.hash);
});

test("a stopped run ends all namespaces at the same time, with its results so far", async () => {
  const stop = new AbortController();
  const { code, stdout, stderr, written } = await runJob(
    { yaml: threeNamespaces, args: ["--for", "30d"] },
    ["--json", "t.jsonl", "--workers", "2"],
    {
      stopped: stop.signal,
      progress: async () => ({ show: (share) => share > 0.01 && stop.abort(), clear: () => {} }),
    },
  );
  expect(code).toBe(130);
  const reached = /stopped after (\S+) of 30d/.exec(stderr)?.[1];
  expect(stdout).toContain(`(${reached} of virtual time`);
  const records = written["t.jsonl"]!.trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TraceLine);
  const end = records.at(-1)!;
  expect(end.type).toBe("end");
  expect(Date.parse(end.at) - Date.parse("2026-01-01T00:00:00Z")).toBeLessThan(2 * 86_400_000);
  for (const namespace of ["billing", "ops", "search"]) {
    const last = records.filter((record) => namespaceOf(record) === namespace).at(-1)!;
    expect(Date.parse(end.at) - Date.parse(last.at)).toBeLessThan(3_600_000);
  }
});

test("a worker that fails ends the command, and leaves files as they were", async () => {
  const failing: MemoryIoOptions["segmentRunners"] = async () => (shares) => ({
    runners: shares.map(() => ({
      run: () => Promise.reject(new Error("out of memory")),
      end: () => Promise.reject(new Error("out of memory")),
    })),
    close: async () => {},
  });
  const { code, stderr, stdout } = await runJob(SHAPES["three namespaces"]!, ["--workers", "2"], {
    segmentRunners: failing,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("out of memory");
});

test("a thread that is out of memory is reported in one line, with its segment and a hint", async () => {
  const failure = Object.assign(new Error("Worker terminated due to reaching memory limit: JS heap out of memory"), {
    code: "ERR_WORKER_OUT_OF_MEMORY",
  });
  const left = threadFailure(failure, "namespace ops, one of 2 of its thread", "have more --workers");
  const { code, stderr, stdout } = await runJob(SHAPES["three namespaces"]!, ["--workers", "2"], {
    segmentRunners: async () => (shares) => ({
      runners: shares.map(() => ({ run: () => Promise.reject(left), end: () => Promise.reject(left) })),
      close: async () => {},
    }),
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "kubewright: out of memory while simulating namespace ops, one of 2 of its thread: have more --workers, or give each thread more heap (NODE_OPTIONS=--max-old-space-size=8192, in MiB)\n",
  );
  expect(threadFailure(new Error("another"), "namespace ops")).toEqual(new Error("another"));
});

test("threads simulate the same as this thread", { timeout: 90_000 }, async () => {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, "all.yaml"), threeNamespaces);
  const args = ["run", "all.yaml", "--start", "2026-01-01T00:00:00Z", "--for", "12h", "--workers", "2", "--json", "-"];
  const { stdout } = await promisify(execFile)(process.execPath, [BINARY, ...args], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  const here = await kubewright(args, {
    files: { "all.yaml": threeNamespaces },
    timeZoneData: process.versions["tz"]!,
  });
  expect(stdout).toBe(here.stdout);
});

const namespaceName = fc.constantFrom("a", "b", "c", "d");
const randomCronJob = fc
  .record({
    namespace: namespaceName,
    minute: fc.constantFrom("*/7", "*/10", "0,30", "13"),
    policy: fc.constantFrom("Allow", "Forbid", "Replace"),
    duration: fc.constantFrom("10s", "2m..12m", "exponential(8m)"),
    exitCode: fc.constantFrom("0", "1", "0=70%,3=30%"),
    ttl: fc.constantFrom("", "\n      ttlSecondsAfterFinished: 30"),
  })
  .map((drawn, index = 0) => ({ ...drawn, index }));

test("random workloads are the same bytes on any number of workers", { timeout: 90_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomCronJob, { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 1, max: 1000 }),
      async (all, seed) => {
        const yaml = all
          .map(({ namespace, minute, policy, duration, exitCode, ttl }, index) =>
            cronJob({
              namespace,
              name: `job-${index}`,
              spec: `schedule: "${minute} * * * *"\n  concurrencyPolicy: ${policy}`,
              duration,
              exitCode,
              job: `backoffLimit: 1${ttl}`,
            }),
          )
          .join("");
        const args = ["--for", "2h", "--seed", String(seed)];
        const hashes = [];
        for (const workers of ["1", "3"])
          hashes.push(
            (await runJob({ yaml, args }, ["--json", "t.jsonl", "--runs", "r.jsonl", "--workers", workers])).hash,
          );
        expect(new Set(hashes).size).toBe(1);
      },
    ),
    { seed: 19, numRuns: 6 },
  );
});
