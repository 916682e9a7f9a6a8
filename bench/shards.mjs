#!/usr/bin/env node
// Benchmark of 1, 2 and 4 replicas with --sharding namespaces, interleaved, with one `kubewright serve` in its own
// process and the simulated kubelet. Jobs of one pod in 200 namespaces run until all are complete. Prints one JSON line
// per run, with the CPU time of each process, which shows the bottleneck. Needs `npm run build`. No dependencies.
//
//     node bench/shards.mjs [--replicas 1,2,4] [--rounds 1] [--jobs 2000] [--qps -1]
//
// With --qps 20, the usual quota of a client, use fewer Jobs: --jobs 120. Each run takes at most five minutes.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const { values: a } = parseArgs({
  options: {
    replicas: { type: "string", default: "1,2,4" },
    rounds: { type: "string", default: "1" },
    jobs: { type: "string", default: "2000" },
    qps: { type: "string", default: "-1" },
    namespaces: { type: "string", default: "200" },
  },
});
const root = path.join(import.meta.dirname, "..");
const SERVE = path.join(root, "apps/simulator/bin/kubewright.js");
const MANAGER = path.join(root, "apps/controller-manager/dist/main.js");
const LIMIT_MS = 300_000;
const BUCKETS = 65;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  child.text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (child.text += data));
  child.ended = new Promise((resolve) => child.once("close", resolve));
  children.add(child);
  child.ended.then(() => children.delete(child));
  return child;
}
async function until(what, isSo) {
  for (const endMs = Date.now() + LIMIT_MS; Date.now() < endMs; await sleep(100)) {
    const found = await isSo();
    if (found) return found;
  }
  throw new Error(`${what}: not within ${LIMIT_MS / 1000} s`);
}
const cpu = ({ pid }) => {
  const f = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (+f[11] + +f[12]) / 100;
};
const round = (value) => +value.toFixed(2);

async function measure(count) {
  const server = start([
    SERVE,
    "serve",
    "--port=0",
    "--controllers",
    "",
    "--kubelet=simulated",
    "--feature-gates=ShardedListAndWatch=true",
    `--kubeconfig=/tmp/kubewright-bench-${process.pid}`,
  ]);
  const [, url] = await until("the server", () => /Serving on (\S+)/.exec(server.text));
  const call = async (method, where, body) => {
    const response = await fetch(url + where, {
      method,
      headers: { "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = await response.json();
    if (response.status >= 300) throw new Error(`${method} ${where}: ${response.status} ${answer.message}`);
    return answer;
  };
  const spread = Array.from({ length: +a.namespaces }, (_, index) => `team-${index}`);
  for (const name of spread)
    await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const replicas = Array.from({ length: count }, () =>
    start([
      MANAGER,
      "--sharding=namespaces",
      "--take-over",
      "--secure-port=0",
      `--master=${url}`,
      "--controllers=job",
      `--kube-api-qps=${a.qps}`,
      ...(+a.qps > 0 ? [`--kube-api-burst=${a.qps}`] : []),
    ]),
  );
  // The first assignment takes a Lease duration. Buckets move to later replicas half a minute after that.
  await until("the shares", async () => {
    const object = await call("GET", "/api/v1/namespaces/kube-system/configmaps/kubewright-assignment").catch(
      () => undefined,
    );
    if (object === undefined) return false;
    const sizes = new Map();
    for (const { owner } of JSON.parse(object.data.assignment).entries) sizes.set(owner, (sizes.get(owner) ?? 0) + 1);
    return sizes.size === count && !sizes.has("") && Math.min(...sizes.values()) >= Math.floor(BUCKETS / count);
  });
  await sleep(3_000);
  const before = { server: cpu(server), replicas: replicas.map(cpu) };
  const beginMs = performance.now();
  const template = {
    metadata: { annotations: { "sim.kubewright.dev/duration": "100ms", "sim.kubewright.dev/startup-delay": "0s" } },
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] },
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let index = next++; index < +a.jobs; index = next++) {
        const namespace = spread[index % spread.length];
        await call("POST", `/apis/batch/v1/namespaces/${namespace}/jobs`, {
          apiVersion: "batch/v1",
          kind: "Job",
          metadata: { name: `job-${index}`, namespace },
          spec: { template },
        });
      }
    }),
  );
  // Repeated lists of all Jobs would be a load of their own.
  await until("the pods", async () => {
    const { items } = await call("GET", "/apis/batch/v1/jobs?fieldSelector=status.successful%3D0&limit=1");
    return items.length === 0;
  });
  await until("the Jobs", async () => {
    const { items } = await call("GET", "/apis/batch/v1/jobs");
    return (
      items.filter(
        ({ status }) => status?.succeeded === 1 && status.conditions?.some(({ type }) => type === "Complete"),
      ).length === +a.jobs
    );
  });
  const seconds = (performance.now() - beginMs) / 1000;
  const cpuOfReplicas = replicas.map((replica, index) => round(cpu(replica) - before.replicas[index]));
  const result = {
    replicas: count,
    qps: +a.qps,
    jobs: +a.jobs,
    seconds: round(seconds),
    jobsPerSecond: round(+a.jobs / seconds),
    cpuSeconds: { server: round(cpu(server) - before.server), replicas: cpuOfReplicas },
    // In cores: the maximum of a process is 1.
    busiest: {
      server: round((cpu(server) - before.server) / seconds),
      replica: round(Math.max(...cpuOfReplicas) / seconds),
    },
  };
  for (const child of [...replicas, server]) child.kill("SIGTERM");
  await Promise.race([Promise.all([...replicas, server].map(({ ended }) => ended)), sleep(40_000)]);
  return result;
}

for (let turn = 0; turn < +a.rounds; turn++)
  for (const count of a.replicas.split(",").map(Number)) console.log(JSON.stringify(await measure(count)));
process.exit(0);
