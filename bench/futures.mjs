#!/usr/bin/env node
// Benchmark of many futures with different numbers of threads, interleaved. Prints one JSON line per number of threads.
// Needs `npm run build`.
//
//     node bench/futures.mjs [--workers 1,2] [--seeds 200] [--rounds 3] [--days 7] [--cron-jobs 20]
//
// CronJobs run daily, for 10 to 40 minutes. Wall-clock time is meaningful only on an idle machine; CPU time shows the
// cost of an additional thread also on a busy one. `ratio` is the median wall-clock time with the first number of
// threads, divided by that with this number.
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
    seeds: { type: "string", default: "200" },
    rounds: { type: "string", default: "3" },
    days: { type: "string", default: "7" },
    "cron-jobs": { type: "string", default: "20" },
  },
});
const MAIN = fileURLToPath(new URL("../apps/simulator/dist/main.js", import.meta.url));
// The CPU time of all threads, which only the process itself can measure.
const PRINT_CPU =
  "data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write('CPU '+(user+system)/1e6)})";

const folder = mkdtempSync(path.join(os.tmpdir(), "kubewright-bench-"));
const manifest = path.join(folder, "jobs.json");
writeFileSync(manifest, JSON.stringify({ apiVersion: "v1", kind: "List", items: cronJobs() }));
const measured = new Map(options.workers.split(",").map((workers) => [workers, []]));
try {
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [workers, runs] of measured) runs.push(simulate(workers));
} finally {
  rmSync(folder, { recursive: true });
}
let first;
for (const [workers, runs] of measured) {
  const seconds = median(runs.map((run) => run.seconds));
  first ??= seconds;
  const cpuSeconds = median(runs.map((run) => run.cpuSeconds));
  const facts = { futures: Number(options.seeds), seconds, cpuSeconds, ratio: first / seconds };
  console.log(JSON.stringify({ workers: Number(workers), ...facts, load: os.loadavg()[0] }));
}

function simulate(workers) {
  const started = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", PRINT_CPU, MAIN, "run", manifest, "--for", `${options.days}d`, "--seeds", `1-${options.seeds}`].concat(
      ["--start", "2026-01-01T00:00:00Z", "--workers", workers],
    ),
    { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds: Number(/CPU ([\d.]+)$/.exec(stderr)[1]) };
}

function cronJobs() {
  return Array.from({ length: Number(options["cron-jobs"]) }, (_, index) => ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: `job-${index}` },
    spec: {
      schedule: `${(index * 3) % 60} 2 * * *`,
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations: { "sim.kubewright.dev/duration": "10m..40m" } },
            spec: {
              restartPolicy: "Never",
              containers: [{ name: "c", image: "busybox", resources: { requests: { cpu: "500m", memory: "256Mi" } } }],
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
