#!/usr/bin/env node
// Benchmark of lifecycles per wall-clock second in virtual time, and of memory over ten times the length. Prints one
// JSON line per load. Needs `npm run build`.
//
//     node bench/virtual-time.mjs [--only jobs|cronJobs] [--jobs 40000] [--days 10] [--cron-jobs 100]
//
// - `jobs`: one-pod Jobs that run 10 s and are removed a minute later by their TTL, one created every virtual second.
//   Events live for an hour, so a tenth of the run should be longer than that.
// - `cronJobs`: hourly CronJobs spread over the hour, with the default history limits, as `kubewright run` simulates
//   them.
//
// A lifecycle is everything from the Job's creation to the removal of the Job and its pod: API server, controllers,
// scheduler, kubelet, garbage collector, events. Each load has its own process. Heaps are measured after a full
// collection, at a tenth of the run and at its end. The process fails when the heap grew by more than a quarter and 8
// MiB.
import { spawnSync } from "node:child_process";
import os from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    jobs: { type: "string", default: "40000" },
    days: { type: "string", default: "10" },
    "cron-jobs": { type: "string", default: "100" },
  },
});
const loads = { jobs: runJobs, cronJobs: runCronJobs };
const GOAL_PER_SECOND = 5000;
const MIB = 1024 * 1024;

if (process.env["BENCH_LOAD"] === undefined) {
  for (const load of Object.keys(loads)) {
    if (options.only !== undefined && options.only !== load) continue;
    const { status } = spawnSync(
      process.execPath,
      ["--expose-gc", fileURLToPath(import.meta.url), ...process.argv.slice(2)],
      { stdio: "inherit", env: { ...process.env, BENCH_LOAD: load } },
    );
    if (status !== 0) process.exitCode = 1;
  }
} else {
  await measure(process.env["BENCH_LOAD"]);
}

async function measure(load) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  let atATenth;
  let atTheEnd;
  let measuringMs = 0;
  const lifecycles = await loads[load]((share) => {
    if (share < 0.1 || (atATenth !== undefined && share < 1)) return;
    const before = performance.now();
    if (atATenth === undefined) atATenth = memory();
    else atTheEnd = memory();
    measuringMs += performance.now() - before;
  });
  const seconds = (performance.now() - started - measuringMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const isFlat = atTheEnd.heapMiB <= atATenth.heapMiB * 1.25 + 8;
  console.log(
    JSON.stringify({
      bench: "virtual-time",
      load,
      lifecycles,
      perSecond: Math.round(lifecycles / seconds),
      goalPerSecond: GOAL_PER_SECOND,
      cpuMsPerLifecycle: Number(((user + system) / 1000 / lifecycles).toFixed(3)),
      atATenth,
      atTheEnd,
      isFlat,
      node: process.version,
      cpus: os.cpus().length,
      loadAverage: Number(os.loadavg()[0].toFixed(1)),
    }),
  );
  if (!isFlat) process.exitCode = 1;
}

function memory() {
  globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMiB: Math.round(heapUsed / MIB), rssMiB: Math.round(rss / MIB) };
}

function template(duration) {
  return {
    metadata: { annotations: { "sim.kubewright.dev/duration": duration } },
    spec: { restartPolicy: "Never", containers: [{ name: "work", image: "busybox", command: ["sh", "-c", "work"] }] },
  };
}

/** @param progress - Called regularly with the completed share. Resolves with the number of lifecycles. */
async function runJobs(progress) {
  const { jobs } = await import("@kubewright/api");
  const { SimulatedClock, seededRandom } = await import("@kubewright/clock");
  const { createCluster } = await import("@kubewright/cluster");
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({
    clock,
    random: seededRandom(1),
    trackFields: false,
    bookmarkIntervalMs: 3_600_000,
  });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await clock.settle();
  const client = cluster.client("bench").resource(jobs);
  const total = Number(options.jobs);
  for (let created = 1; created <= total; created++) {
    const spec = { ttlSecondsAfterFinished: 60, template: template("10s") };
    void client.create({ metadata: { namespace: "default", name: `job-${created}` }, spec });
    await clock.advance(1000);
    progress(created / total);
  }
  await clock.advance(120_000);
  const left = (await client.list()).items.length;
  if (left > 0) throw new Error(`${left} Jobs were not removed`);
  stop.abort();
  await clock.advance(0);
  await running;
  return total;
}

async function runCronJobs(progress) {
  const { simulate } = await import("kubewright");
  const count = Number(options["cron-jobs"]);
  const durationMs = Number(options.days) * 86_400_000;
  const manifests = Array.from({ length: count }, (_, index) => ({
    source: "bench",
    object: {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: `hourly-${index}`, namespace: "default" },
      spec: { schedule: `${index % 60} * * * *`, jobTemplate: { spec: { template: template("30s") } } },
    },
  }));
  let complete = 0;
  await simulate({
    manifests,
    startMs: Date.parse("2026-01-01T00:00:00Z"),
    durationMs,
    seed: 1,
    timeZoneData: "",
    emit: (record) => {
      if (record.type === "event" && record.reason === "Completed") complete++;
    },
    onProgress: (elapsedMs) => progress(elapsedMs / durationMs),
  });
  const due = (count * durationMs) / 3_600_000;
  if (complete < due - 2 * count) throw new Error(`only ${complete} of ${due} runs completed`);
  return complete;
}
