import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import { nodes } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import type { ApiResponse } from "@kubewright/transport";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { HealthChecks } from "../health-checks.js";
import { LeaderElector } from "../leader-elector.js";
import { ControllerMetrics, MetricFamilies, healthMetrics } from "./index.js";

async function linesOf(registry: Registry, name: string): Promise<string[]> {
  return (await registry.metrics()).split("\n").filter((line) => line.includes(name));
}

test("a named queue has its series from the start, and they record its work", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  const clock = new SimulatedClock();
  const rateLimiter = defaultControllerRateLimiter<string>({ clock });
  const queue = new RateLimitingQueue({ clock, rateLimiter, name: "job", metrics: metrics.queues });
  const unnamed = new RateLimitingQueue({ clock, rateLimiter, metrics: metrics.queues });
  unnamed.add("unseen");
  expect(await linesOf(registry, "workqueue_depth")).toEqual([
    "# HELP workqueue_depth [BETA] Current depth of workqueue",
    "# TYPE workqueue_depth gauge",
    'workqueue_depth{name="job"} 0',
  ]);
  expect(await linesOf(registry, "workqueue_queue_duration_seconds_count")).toEqual([
    'workqueue_queue_duration_seconds_count{name="job"} 0',
  ]);
  queue.add("a");
  await clock.advance(2_000);
  await queue.get();
  await clock.advance(3_000);
  queue.addRateLimited("b");
  queue.done("a");
  const text = await registry.metrics();
  for (const line of [
    'workqueue_adds_total{name="job"} 1',
    'workqueue_retries_total{name="job"} 1',
    'workqueue_queue_duration_seconds_sum{name="job"} 2',
    'workqueue_work_duration_seconds_sum{name="job"} 3',
    'workqueue_unfinished_work_seconds{name="job"} 3',
    'workqueue_longest_running_processor_seconds{name="job"} 3',
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  const bounds = text
    .match(/workqueue_work_duration_seconds_bucket\{le="[^"]+"/g)!
    .map((bucket) => bucket.split('"')[1]);
  expect(bounds.map(Number)).toEqual([
    1e-8,
    1e-7,
    1e-6,
    9.999999999999999e-6,
    9.999999999999999e-5,
    0.001,
    0.01,
    0.1,
    1,
    10,
    NaN,
  ]);
  queue.shutDown();
});

test("queues of one name are shown as one", async () => {
  const registry = new Registry();
  const { queues } = new ControllerMetrics({ registry });
  const [one, other] = [queues.forQueue("job"), queues.forQueue("job")];
  one.setDepth(3);
  other.setDepth(2);
  one.setDepth(1);
  one.countAdd();
  queues.forQueue("job").countAdd();
  for (const [queue, seconds] of [
    [one, 4],
    [other, 2.5],
    [one, 1],
  ] as const) {
    queue.setUnfinishedWork(seconds);
    queue.setLongestRunningProcessor(seconds);
  }
  for (const line of [
    'workqueue_depth{name="job"} 3',
    'workqueue_adds_total{name="job"} 2',
    'workqueue_unfinished_work_seconds{name="job"} 3.5',
    'workqueue_longest_running_processor_seconds{name="job"} 2.5',
  ]) {
    expect((await registry.metrics()).split("\n")).toContain(line);
  }
});

test("every help text begins with the metric's stability", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  metrics.counter({ name: "job_controller_job_syncs_total", help: "The number of job syncs", stability: "STABLE" });
  const helps = (await registry.metrics()).split("\n").filter((line) => line.startsWith("# HELP"));
  expect(helps).toHaveLength(7 + 3 + 2 + 6 + 1);
  for (const help of helps) expect(help).toMatch(/^# HELP \w+ \[(ALPHA|BETA|STABLE)\] \S/);
  expect(helps).toContain("# HELP job_controller_job_syncs_total [STABLE] The number of job syncs");
});

test("an elector is 0 from its construction, 1 while it leads and 0 again", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  const clock = new SimulatedClock();
  const { transport } = createApiServer({ clock, random: seededRandom(1) });
  const elector = new LeaderElector({
    client: new Client({ transport, clock }),
    clock,
    random: seededRandom(2),
    namespace: "kube-system",
    name: "example",
    identity: "me",
    metrics: metrics.leaderElection,
    callbacks: { onStartedLeading: () => {}, onStoppedLeading: () => {} },
  });
  const status = async () => (await linesOf(registry, "leader_election_master_status{")).join();
  expect(await status()).toBe('leader_election_master_status{name="example"} 0');
  const stop = new AbortController();
  const done = elector.run(stop.signal);
  await clock.advance(1_000);
  expect(await status()).toBe('leader_election_master_status{name="example"} 1');
  stop.abort();
  await done;
  expect(await status()).toBe('leader_election_master_status{name="example"} 0');
});

test("a client's attempts, retries, waits and sizes are labelled by method and host", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  const clock = new SimulatedClock();
  const bytes = (text: string) =>
    (async function* () {
      await clock.sleep(250);
      yield new TextEncoder().encode(text);
    })();
  const answers: ApiResponse[] = [
    { status: 429, headers: { "retry-after": "2" }, sentBytes: 70, body: { type: "bytes", chunks: bytes("busy") } },
    { status: 201, headers: {}, sentBytes: 70, body: { type: "bytes", chunks: bytes('{"metadata":{"name":"n"}}') } },
  ];
  const client = new Client({
    transport: async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error("connection refused");
      return answer;
    },
    clock,
    rateLimit: { qps: 1, burst: 1 },
    metrics: metrics.restClient("10.0.0.1:6443"),
  });
  const creating = client.resource(nodes).create({ metadata: { name: "n" } });
  await clock.advance(10_000);
  await creating;
  await expect(client.resource(nodes).watch()).rejects.toThrow("connection refused");
  const text = (await registry.metrics()).split("\n");
  const about = 'verb="POST",host="10.0.0.1:6443"';
  for (const line of [
    'rest_client_requests_total{code="429",method="POST",host="10.0.0.1:6443"} 1',
    'rest_client_requests_total{code="201",method="POST",host="10.0.0.1:6443"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="10.0.0.1:6443"} 1',
    `rest_client_request_retries_total{code="201",${about}} 1`,
    `rest_client_rate_limiter_duration_seconds_count{${about}} 2`,
    `rest_client_request_size_bytes_sum{${about}} 140`,
    `rest_client_response_size_bytes_sum{${about}} 25`,
    // The sum covers reading the rejection, the pause and reading the response.
    `rest_client_request_duration_seconds_sum{${about}} 2.5`,
    `rest_client_request_duration_seconds_count{${about}} 1`,
  ]) {
    expect(text).toContain(line);
  }
  expect(text.filter((line) => line.startsWith("rest_client_request_retries_total"))).toHaveLength(1);
  expect(text.join("\n")).not.toContain('rest_client_request_duration_seconds_count{verb="GET"');
});

test("an informer with a name has its series per resource", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  const clock = new SimulatedClock();
  const { transport } = createApiServer({ clock, random: seededRandom(1) });
  const client = new Client({ transport, clock });
  const informers = new InformerFactory({
    client,
    clock,
    random: seededRandom(2),
    informerName: "example",
    metrics: metrics.informers,
  });
  informers.informerFor(nodes);
  const stop = new AbortController();
  const done = informers.run(stop.signal);
  await clock.advance(1_000);
  const { metadata } = await client.resource(nodes).create({ metadata: { name: "n" } });
  await clock.advance(1_000);
  const labels = 'name="example",group="",version="v1",resource="nodes"';
  expect(await linesOf(registry, "informer_store_resource_version{")).toEqual([
    `informer_store_resource_version{${labels}} ${metadata.resourceVersion}`,
  ]);
  expect(await linesOf(registry, "informer_queued_items{")).toEqual([`informer_queued_items{${labels}} 0`]);
  expect(await linesOf(registry, "informer_processing_latency_seconds_count{")).toHaveLength(1);
  stop.abort();
  await done;
});

test("a disabled metric is taken but not shown", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry, disabled: ["workqueue_depth", "no_such_metric"] });
  metrics.queues.forQueue("job").setDepth(3);
  expect(await linesOf(registry, "workqueue_depth")).toEqual([]);
  expect(await linesOf(registry, "workqueue_adds_total{")).toHaveLength(1);
});

test("a label value that is not allowed counts as unexpected, and is reported", async () => {
  const registry = new Registry();
  let unexpectedCount = 0;
  const metrics = new MetricFamilies({
    registry,
    allowedLabels: new Map([["held", new Map([["of", new Set(["a"])]])]]),
    onUnexpectedLabel: () => unexpectedCount++,
  });
  const held = metrics.counter({ name: "held", help: "Held", labels: ["of", "by"] });
  held.inc({ of: "a", by: "x" });
  held.inc({ of: "b", by: "x" }, 2);
  held.inc({ of: "c", by: "x" });
  const seconds = metrics.histogram({ name: "seconds", help: "Seconds", labels: ["of"], buckets: [1] });
  seconds.observe({ of: "b" }, 1);
  expect((await linesOf(registry, "held{")).sort()).toEqual([
    'held{of="a",by="x"} 1',
    'held{of="unexpected",by="x"} 3',
  ]);
  expect(await linesOf(registry, 'seconds_count{of="b"}')).toHaveLength(1);
  expect(unexpectedCount).toBe(2);
  expect(metrics.registered).toEqual(new Map([["ALPHA", 2]]));
});

test("a registry holds each metric once, and two registries share nothing", async () => {
  const registry = new Registry();
  new ControllerMetrics({ registry }).queues.forQueue("job").countAdd();
  expect(() => new ControllerMetrics({ registry })).toThrow("workqueue_depth has already been registered");
  const other = new Registry();
  expect(new ControllerMetrics({ registry: other }).registry).toBe(other);
  expect(await linesOf(other, "workqueue_adds_total{")).toEqual([]);
});

test("a controller's own metrics are made in the same registry", async () => {
  const registry = new Registry();
  const metrics = new ControllerMetrics({ registry });
  const skew = metrics.histogram({
    name: "cronjob_controller_job_creation_skew_duration_seconds",
    help: "Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
    stability: "STABLE",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  });
  // The `metrics` option of a CronJobController.
  const cronJobMetrics = { jobCreationSkew: (seconds: number) => skew.observe(seconds) };
  cronJobMetrics.jobCreationSkew(3);
  const lines = await linesOf(registry, "cronjob_controller_job_creation_skew_duration_seconds");
  expect(lines).toContain('cronjob_controller_job_creation_skew_duration_seconds_bucket{le="2"} 0');
  expect(lines).toContain('cronjob_controller_job_creation_skew_duration_seconds_bucket{le="4"} 1');
  const held = metrics.gauge({ name: "held", help: "Held", labels: ["of"] });
  held.set({ of: "a" }, 2);
  expect(await linesOf(registry, "held")).toContain('held{of="a"} 2');
});

test("health checks leave their results in a registry of their own", async () => {
  const registry = new Registry();
  const checks = new HealthChecks({ metrics: healthMetrics(new MetricFamilies({ registry })) });
  checks.add("leaderElection", () => new Error("too late"));
  await checks.report("healthz");
  await checks.report("healthz");
  const text = (await registry.metrics()).split("\n");
  expect(text).toContain('kubernetes_healthcheck{name="leaderElection",type="healthz"} 0');
  expect(text).toContain('kubernetes_healthchecks_total{name="leaderElection",type="healthz",status="error"} 2');
});

test("only this folder loads prom-client, and nothing of the main entry loads this folder", () => {
  const source = path.resolve(import.meta.dirname, "..");
  const loading = readdirSync(source)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => /"(prom-client|\.\/metrics\/.*)"/.test(readFileSync(path.join(source, file), "utf8")));
  expect(loading).toEqual([]);
});
