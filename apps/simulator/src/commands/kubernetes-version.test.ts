import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";

import { type Job, type KubernetesVersion, jobs, mutableCopy } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { type Cluster, createCluster } from "@kubewright/cluster";
import { expect, onTestFinished, test } from "vitest";
import type { ComparisonReport } from "@kubewright/timeline/data";

import { type MemoryIoOptions, type CommandResult, kubewright as kubewrightWith } from "../../test/memory-io.js";
import { kubeconfigFor } from "../serve/kubeconfig.js";
import { readServerVersion } from "@kubewright/analysis/input";
import type { PageAssets } from "@kubewright/analysis/page";

/** A Job of two pods. The first fails after 20 s and waits for its replacement while the other runs. */
const flaky = `
apiVersion: batch/v1
kind: Job
metadata: { name: flaky, namespace: default }
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    metadata:
      annotations:
        sim.kubewright.dev/duration: 10m
        sim.kubewright.dev/rules: '[{"indexes": "0", "attempts": "1", "duration": "20s", "exitCode": "1"}]'
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

const queued = flaky.replace("name: flaky", "name: queued").replace("spec:\n", "spec:\n  managedBy: acme.io/queue\n");

const files = { "flaky.yaml": flaky, "queued.yaml": queued };
const kubewright = (args: readonly string[], options: MemoryIoOptions = {}): Promise<CommandResult> =>
  kubewrightWith(args, { files, ...options });
const run = (...args: string[]): Promise<CommandResult> => kubewright(["run", "--for", "1h", ...args]);
/** Returns the lines of a trace or a comparison. */
const lines = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const { code, stdout } = await run(...args, "--json", "-");
  expect(code).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

const KNOWN = "1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.36.2, 1.36.3";

test.each([
  ["--kubernetes", ["run", "flaky.yaml", "--kubernetes", "1.40"], "1.40"],
  ["--kubernetes", ["run", "flaky.yaml", "--kubernetes", "1.36.9"], "1.36.9"],
  ["--kubernetes", ["run", "flaky.yaml", "--kubernetes", "newest"], "newest"],
  ["--against-kubernetes", ["run", "flaky.yaml", "--against-kubernetes", "vv1.33"], "vv1.33"],
  ["--kubernetes", ["serve", "--kubernetes", "1.30"], "1.30"],
  ["--kubernetes", ["why", "job/x", "--kubernetes", ""], ""],
])("%s: an unknown release is reported in one line that lists the known ones", async (option, args, text) => {
  const message = `kubewright: ${option}: ${JSON.stringify(text)} cannot be simulated; choose one of ${KNOWN}\n`;
  expect(await kubewright(args)).toMatchObject({ code: 2, stdout: "", stderr: message });
});

test("the newest release is the default, and is not named", async () => {
  const { stdout, stderr } = await run("flaky.yaml");
  expect(stderr).toBe("");
  expect(stdout).toContain("(1h of virtual time, seed 1; repeat with ");
  expect(stdout).not.toContain("Kubernetes");
  for (const name of ["1.36", "v1.36", "1.36.3", "v1.36.3"])
    expect(await run("flaky.yaml", "--kubernetes", name)).toEqual(await run("flaky.yaml"));
  expect((await lines("flaky.yaml"))[0]).toMatchObject({ kubernetes: "v1.36" });
});

test("another release is named by the terminal and the trace", async () => {
  const { stdout, stderr } = await run("flaky.yaml", "--kubernetes", "v1.33");
  expect(stderr).toBe("");
  expect(stdout).toContain("(1h of virtual time, seed 1, Kubernetes 1.33; repeat with ");
  expect((await lines("flaky.yaml", "--kubernetes", "1.36.2"))[0]).toMatchObject({ kubernetes: "v1.36.2" });
});

test("1.32 is simulated as 1.33, and a line says so", async () => {
  const { code, stdout, stderr } = await run("flaky.yaml", "--kubernetes", "1.32");
  expect(code).toBe(0);
  expect(stderr).toBe(
    "kubewright: Kubernetes 1.32 is simulated as Kubernetes 1.33: what differs between releases was not measured in this one\n",
  );
  expect(stdout).toBe((await run("flaky.yaml", "--kubernetes", "1.33")).stdout);
});

test("a status that 1.36.2 refuses is what changes with 1.36.3", async () => {
  const { code, stdout, stderr } = await run("flaky.yaml", "--kubernetes", "1.36.2", "--against-kubernetes", "1.36");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("A: flaky.yaml, Kubernetes 1.36.2\nB: flaky.yaml, Kubernetes 1.36\n");
  expect(stdout).toMatch(/Complete in 10m\d+s, 1 pod failed, status refused +Complete in 10m\d+s, 1 pod/);
  expect(stdout).toContain("1 in A, 1 in B: 0 the same, 1 different, 0 only in A, 0 only in B");
});

test("what an upgrade changes, as JSON: a Job that 1.31 runs by itself is left to its own controller", async () => {
  const [header, difference, ...more] = await lines(
    "queued.yaml",
    "--kubernetes",
    "1.31",
    "--against-kubernetes",
    "1.35",
  );
  expect(header).toMatchObject({
    type: "header",
    a: ["queued.yaml"],
    b: ["queued.yaml"],
    kubernetes: { a: "v1.31", b: "v1.35" },
  });
  expect(difference).toMatchObject({
    type: "difference",
    name: "queued",
    a: { outcome: "Complete", failedPods: 1 },
    b: { outcome: "Running" },
    differs: ["outcome", "failedPods"],
  });
  expect(more.map(({ type }) => type)).toEqual(["group", "summary"]);
});

test("the page of two releases holds both runs, and names the release of each", async () => {
  const pageAssets = async (): Promise<PageAssets> => ({ script: "", style: "", scriptHash: "a", styleHash: "b" });
  const args = ["run", "flaky.yaml", "--kubernetes", "1.33", "--against-kubernetes", "1.36", "--html", "r.html"];
  const { code, written } = await kubewright(args, { pageAssets });
  expect(code).toBe(0);
  const packed = /<script type="application\/gzip" id="report">([^<]+)</.exec(written["r.html"]!)![1]!;
  const { titles, a, b } = JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString()) as ComparisonReport;
  expect(titles).toEqual({ a: "flaky.yaml, Kubernetes 1.33", b: "flaky.yaml, Kubernetes 1.36" });
  expect([a.kubernetes, b.kubernetes]).toEqual(["v1.33", "v1.36"]);
});

test("a changed file can be tried under another release at once", async () => {
  const changed = queued.replace("acme.io/queue", "kubernetes.io/job-controller");
  const args = ["run", "queued.yaml", "--against", "changed.yaml", "--against-kubernetes", "1.35", "--for", "1h"];
  const { code, stdout, stderr } = await kubewright(args, { files: { ...files, "changed.yaml": changed } });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("A: queued.yaml, Kubernetes 1.36\nB: changed.yaml, Kubernetes 1.35\n");
  expect(stdout).toContain('spec.managedBy: "acme.io/queue" → "kubernetes.io/job-controller"');
  expect(stdout).toMatch(/Running +Complete in/);
});

test("standard input is read once for both releases", async () => {
  let reads = 0;
  const readStandardInput = async (): Promise<string> => (reads++ === 0 ? flaky : "");
  const args = ["run", "-", "--kubernetes", "1.35", "--against-kubernetes", "1.36", "--for", "1h"];
  const { code, stdout } = await kubewright(args, { readStandardInput });
  expect(code).toBe(0);
  expect(stdout).toContain("status refused");
});

test("a release against itself has no differences, and the output suggests --kubernetes", async () => {
  const { code, stdout, stderr } = await run("flaky.yaml", "--against-kubernetes", "1.36");
  expect([code, stderr]).toEqual([
    0,
    "kubewright: both are simulated as Kubernetes 1.36: --kubernetes says what A is\n",
  ]);
  expect(stdout).toContain("A: flaky.yaml\nB: flaky.yaml\n");
  expect(stdout).toContain("1 other does the same in both");
});

test("two releases and one line a run do not go together", async () => {
  expect(await run("flaky.yaml", "--against-kubernetes", "1.33", "--runs", "r.csv")).toMatchObject({
    code: 2,
    stderr:
      "kubewright: --runs lists one run and --against-kubernetes compares two: leave out one of them, or take --json\n",
  });
});

const FOLDER = new URL("../../../../examples/", import.meta.url).pathname;
const BACKOFF_BESIDE_OTHERS = "scenarios/per-index-backoff.yaml";
const scenarios = (await readdir(`${FOLDER}scenarios`)).map((name) => `scenarios/${name}`);

/** Returns the trace of an example, without its header. */
async function traceOf(name: string, version: string): Promise<string> {
  const what = name.startsWith("scenarios/") ? ["--scenario", FOLDER + name] : [FOLDER + name];
  const io = { readFile: (file: string) => readFile(file, "utf8") };
  const { stdout } = await kubewrightWith(["run", ...what, "--kubernetes", version, "--json", "-"], io);
  return stdout.slice(stdout.indexOf("\n"));
}

test.each([...scenarios, "hourly-report.yaml", "indexed.yaml", "pi.yaml"].filter((n) => n !== BACKOFF_BESIDE_OTHERS))(
  "%s: from 1.34 on all releases do the same",
  { timeout: 60_000 },
  async (name) => {
    const first = await traceOf(name, "1.34");
    expect(first.length).toBeGreaterThan(1000);
    expect(first === (await traceOf(name, "1.36.3"))).toBe(true);
  },
);

test("ready counts of indexes that wait for their back-off differ up to 1.36.2", async () => {
  const [first, last, newest] = await Promise.all(
    ["1.34", "1.36.2", "1.36.3"].map((version) => traceOf(BACKOFF_BESIDE_OTHERS, version)),
  );
  expect(first === last).toBe(true);
  expect(first === newest).toBe(false);
});

interface Live {
  readonly clock: SimulatedClock;
  readonly cluster: Cluster;
  readonly requests: string[];
  readonly kubeconfig: readonly string[];
}

/** Starts a cluster of a release on a socket, with a Job. */
async function live(kubernetesVersion: KubernetesVersion, spec: Partial<Job["spec"]> = {}): Promise<Live> {
  const clock = new SimulatedClock("2026-06-01T00:00:00Z");
  // In some releases the status is refused, which the silent logger hides.
  const cluster = createCluster({ clock, random: seededRandom(3), kubernetesVersion, logger: silentLogger });
  const requests: string[] = [];
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await clock.advance(1_000);
  const annotations = {
    "sim.kubewright.dev/duration": "10m",
    "sim.kubewright.dev/rules": '[{"indexes": "0", "attempts": "1", "duration": "20s", "exitCode": "1"}]',
  };
  const template = {
    metadata: { annotations },
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
  };
  const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2, template, ...spec };
  await cluster
    .client("test")
    .resource(jobs)
    .create({ metadata: { name: "flaky", namespace: "default" }, spec: indexed });
  await clock.advance(1_000);
  cluster.apiServer.observe(({ verb, path: asked, userAgent }) => {
    if (userAgent.startsWith("kubewright-")) requests.push(`${verb} ${asked.split("?")[0]!}`);
  });
  const { url } = await listen(cluster.apiServer, { host: "127.0.0.1", port: 0 });
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
  writeFileSync(path.join(folder, "config"), kubeconfigFor({ url, tls: undefined, token: undefined }));
  onTestFinished(async () => {
    stop.abort();
    await clock.settle();
    await running;
    await cluster.apiServer.close();
    rmSync(folder, { recursive: true });
  });
  return { clock, cluster, requests, kubeconfig: ["--kubeconfig", path.join(folder, "config")] };
}

test("objects of a cluster are simulated with its release, unless another one is chosen", async () => {
  const { requests, kubeconfig } = await live("1.35");
  const read = await run("--from-cluster", ...kubeconfig);
  expect([read.code, read.stderr]).toEqual([0, ""]);
  expect(read.stdout).toContain(", Kubernetes 1.35)");
  expect(requests).toContain("get /version");
  expect(requests.filter((request) => !/^(get|list) /.test(request))).toEqual([]);
  requests.length = 0;
  const chosen = await run("--from-cluster", ...kubeconfig, "--kubernetes", "1.36");
  expect(chosen.stdout).not.toContain("Kubernetes");
  expect(requests).not.toContain("get /version");
});

test("what an upgrade of a live cluster changes", async () => {
  const { kubeconfig } = await live("1.35");
  const { code, stdout, stderr } = await run("--from-cluster", ...kubeconfig, "--against-kubernetes", "1.36");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("A: the cluster, Kubernetes 1.35\nB: the cluster, Kubernetes 1.36\n");
  expect(stdout).toContain("status refused");
});

test.each([
  ["v1.29.3", "1.31", "the cluster's v1.29.3 is simulated as Kubernetes 1.31: nothing older is known here"],
  ["v1.41.0", "1.36.3", "the cluster's v1.41.0 is simulated as Kubernetes 1.36: nothing newer is known here"],
  [
    "v1.32.9",
    "1.33",
    "the cluster's v1.32.9 is simulated as Kubernetes 1.33: what differs between releases was not measured in this one",
  ],
  ["v1.33.2", "1.33", undefined],
  ["v1.36.1", "1.36.2", undefined],
  ["best", "1.36.3", 'the cluster is simulated as Kubernetes 1.36: it calls its version "best"'],
])("a server that calls itself %s is like %s", async (gitVersion, version, note) => {
  const clock = new SimulatedClock("2026-06-01T00:00:00Z");
  const info = { major: "1", minor: "1", gitVersion };
  const server = createApiServer({ clock, random: seededRandom(1), version: info });
  const client = new Client({ transport: server.transport, clock });
  const { signal } = new AbortController();
  expect(await readServerVersion(client, signal)).toEqual({ version, ...(note === undefined ? {} : { note }) });
});

test("a server that refuses its version counts as the newest", async () => {
  const clock = new SimulatedClock("2026-06-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    authorization: () => ({ allowed: false, reason: "" }),
  });
  const client = new Client({ transport: server.transportAs({ username: "nobody" }), clock });
  const { version, note } = await readServerVersion(client, new AbortController().signal);
  expect(version).toBe("1.36.3");
  expect(note).toMatch(/^the cluster is simulated as Kubernetes 1\.36: its version is unknown: forbidden: /);
});

test("why explains a Job by the cluster's own controller, or by that of another release", async () => {
  const { clock, kubeconfig, requests } = await live("1.33");
  await clock.advance(24_000);
  const at = ["--at", new Date(clock.now()).toISOString()];
  const own = await kubewright(["why", "job/flaky", ...kubeconfig, ...at]);
  expect([own.code, own.stderr]).toEqual([0, ""]);
  expect(own.stdout).toContain(", by Kubernetes 1.33\n");
  expect(own.stdout.replaceAll(/\s+/g, " ")).toContain(
    "the controller reports 0 active pods instead of 1, which the API server refuses (422, cannot set more ready pods than active)",
  );
  expect(requests.filter((request) => !/^(get|list) /.test(request))).toEqual([]);
  const newest = await kubewright(["why", "job/flaky", ...kubeconfig, ...at, "--kubernetes", "1.36"]);
  expect(newest.stdout).not.toMatch(/Kubernetes|instead of/);
  const oldest = await kubewright(["why", "job/flaky", ...kubeconfig, ...at, "--kubernetes", "1.31", "-o", "json"]);
  const { explanation } = JSON.parse(oldest.stdout) as { explanation: { kubernetes: string; notes: string[] } };
  expect(explanation.kubernetes).toBe("1.31");
  expect(explanation.notes.join()).toContain("instead of 1 (kubernetes#139428");
});

test("why warns of a deadline that continues while a Job is suspended", async () => {
  const { clock, cluster, kubeconfig } = await live("1.35", { activeDeadlineSeconds: 3600 });
  const client = cluster.client("test").resource(jobs);
  const job = mutableCopy(await client.get("flaky", { namespace: "default" }));
  await client.update({ ...job, spec: { ...job.spec!, suspend: true } });
  await clock.advance(60_000);
  const why = async (): Promise<string> => {
    const at = ["--at", new Date(clock.now()).toISOString()];
    return (await kubewright(["why", "job/flaky", ...kubeconfig, ...at])).stdout.replaceAll(/\s+/g, " ");
  };
  expect(await why()).toContain("and the deadline passes at Mon 2026-06-01 01:00:01 UTC: resumed after that it fails");
  await clock.advance(3_600_000);
  expect(await why()).toContain("and the deadline has passed: resumed");
});
