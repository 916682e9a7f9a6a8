#!/usr/bin/env node
// Benchmark of one cluster whose namespaces run on different numbers of threads, interleaved. Prints one JSON line per
// number of threads. Needs `npm run build`.
//
//     node bench/workers.mjs [--workers none,1,2] [--rounds 3] [--days 30] [--namespaces 10] [--cron-jobs 100] [--json]
//
// CronJobs run hourly, for 30 s, spread over the hour and the namespaces; `--days 365` is the year. `none` is the
// command without --workers, which simulates the cluster as a whole. `--json` also writes the trace. Wall-clock time is
// meaningful only on an idle machine; CPU time shows the cost of an additional thread also on a busy one.
//
// `ratio` is the median wall-clock time of one thread (or the first number), divided by that with this number of
// threads; `cpuRatio` is the same for CPU time. `mergeShare` is the main thread's share of the CPU time, which threads
// cannot reduce. By Amdahl's law N threads are at most 1 / (mergeShare + (1 - mergeShare) / N) times as fast; `sixteen`
// is that limit for 16 threads.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    workers: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "3" },
    days: { type: "string", default: "30" },
    namespaces: { type: "string", default: "10" },
    "cron-jobs": { type: "string", default: "100" },
    json: { type: "boolean", default: false },
    main: { type: "string", default: fileURLToPath(new URL("../apps/simulator/dist/main.js", import.meta.url)) },
  },
});
// CPU time of the process and of its main thread, and its peak memory, which only the process itself can measure.
const PRINT_USAGE = `data:text/javascript,process.on('exit',()=>{
  const sum=({user,system})=>(user+system)/1e6;
  const main=process.threadCpuUsage?sum(process.threadCpuUsage()):0;
  process.stderr.write('USAGE '+JSON.stringify({cpuSeconds:sum(process.cpuUsage()),mainSeconds:main,mebibytes:process.resourceUsage().maxRSS/1024}))})`;

const folder = mkdtempSync(path.join(os.tmpdir(), "kubewright-bench-"));
const manifest = path.join(folder, "jobs.json");
writeFileSync(manifest, JSON.stringify({ apiVersion: "v1", kind: "List", items: cronJobs() }));
const measured = new Map(options.workers.split(",").map((workers) => [workers, []]));
try {
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [workers, runs] of measured) {
      runs.push(simulate(workers));
      console.error(JSON.stringify({ round, workers, ...runs.at(-1), load: os.loadavg()[0] }));
    }
} finally {
  rmSync(folder, { recursive: true });
}
const medianOf = (runs, what) => median(runs.map((run) => run[what]));
const first = measured.get("1") ?? [...measured.values()][0];
for (const [workers, runs] of measured) {
  const seconds = medianOf(runs, "seconds");
  const cpuSeconds = medianOf(runs, "cpuSeconds");
  const share = medianOf(runs, "mainSeconds") / cpuSeconds;
  console.log(
    JSON.stringify({
      bench: "workers",
      workers,
      runs: (Number(options["cron-jobs"]) * Number(options.days) * 24) | 0,
      seconds: rounded(seconds),
      cpuSeconds: rounded(cpuSeconds),
      mebibytes: Math.round(medianOf(runs, "mebibytes")),
      ratio: rounded(medianOf(first, "seconds") / seconds),
      cpuRatio: rounded(medianOf(first, "cpuSeconds") / cpuSeconds),
      ...(workers === "none"
        ? {}
        : { mergeShare: rounded(share, 4), sixteen: rounded(1 / (share + (1 - share) / 16)) }),
      node: process.version,
      cpus: os.cpus().length,
      loadAverage: rounded(os.loadavg()[0]),
    }),
  );
}

function simulate(workers) {
  const started = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      "--import",
      PRINT_USAGE,
      options.main,
      "run",
      manifest,
      ...["--start", "2026-01-01T00:00:00Z", "--for", `${options.days}d`],
      ...(workers === "none" ? [] : ["--workers", workers]),
      ...(options.json ? ["--json", path.join(folder, "trace.jsonl")] : []),
    ],
    { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return { seconds: (performance.now() - started) / 1000, ...JSON.parse(/USAGE (.*)$/.exec(stderr)[1]) };
}

function cronJobs() {
  const namespaces = Number(options.namespaces);
  return Array.from({ length: Number(options["cron-jobs"]) }, (_, index) => ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: `hourly-${index}`, namespace: `team-${index % namespaces}` },
    spec: {
      schedule: `${index % 60} * * * *`,
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations: { "sim.kubewright.dev/duration": "30s" } },
            spec: {
              restartPolicy: "Never",
              containers: [{ name: "work", image: "busybox", command: ["sh", "-c", "work"] }],
            },
          },
        },
      },
    },
  }));
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function rounded(value, digits = 2) {
  return Number(value.toFixed(digits));
}
