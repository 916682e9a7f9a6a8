#!/usr/bin/env node
// Benchmark of the CPU time of one plan of `kubewright fuzz`, with all invariants. Prints one JSON line per number of
// Jobs. Needs `npm run build`.
//
//     node bench/simulation.mjs [--jobs 1,10,50] [--plays 60]
//
// Jobs of two pods, of which every fifth fails once, ten minutes of virtual time, four nodes, all controllers. The CPU
// time includes all threads of the process, so also V8's garbage collector. The first 25 runs, in which code is
// compiled, do not count.
import process from "node:process";
import { parseArgs } from "node:util";

import { builtInInvariants, runPlan } from "../packages/simulation/dist/index.js";

const { values: options } = parseArgs({
  options: { jobs: { type: "string", default: "1,10,50" }, plays: { type: "string", default: "60" } },
});
const WARM_UP = 25;

for (const jobs of options.jobs.split(",").map(Number)) {
  for (let seed = 1; seed <= WARM_UP; seed++) await runPlan(plan(seed, jobs), { invariants: builtInInvariants });
  const times = [];
  for (let seed = WARM_UP + 1; seed <= WARM_UP + Number(options.plays); seed++) {
    const before = process.cpuUsage();
    await runPlan(plan(seed, jobs), { invariants: builtInInvariants });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  times.sort((a, b) => a - b);
  const [least, median] = [times[0], times[Math.floor(times.length / 2)]].map(Math.round);
  console.log(JSON.stringify({ bench: "simulation", jobs, cpuMs: median, leastMs: least, node: process.version }));
}

function plan(seed, jobs) {
  const names = Array.from({ length: jobs }, (_, index) => `job-${index}`);
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x/y:1" }] } };
  return {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    name: "fifty",
    seed,
    start: "2026-01-01T00:00:00Z",
    for: "10m",
    nodes: [{ name: "node", count: 4 }],
    workloads: names.map((name, index) => ({
      select: { kind: "Job", namespace: "default", name },
      duration: `${2 + (index % 7)}s`,
      ...(index % 5 === 0 ? { attempts: 1, exitCode: 1 } : {}),
    })),
    manifests: names.map((name) => ({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace: "default" },
      spec: { completions: 2, parallelism: 2, backoffLimit: 2, template },
    })),
  };
}
