#!/usr/bin/env node
// Benchmark of an operator that writes one status for each of its custom resources, compared with
// @kubernetes/client-node's informer and a plain loop. Prints one JSON line. Needs `npm run build`.
//
//     node bench/operator.mjs [--objects 10000] [--rounds 3] [--workers 16] [--only NAME,NAME] [--profile FOLDER]
//
// The server is embedded, in a process of its own, over HTTP. With KUBEBUILDER_ASSETS the same runs also against a
// kube-apiserver, over HTTPS. The contestants are interleaved. Each run has a new server, which contains the objects
// before the contestant starts. The figures are medians of the rounds, for the whole process of the contestant:
//
// - `reconcilesPerSecond`: from the first reconcile to the last written status.
// - `cpuMsPerWrite`: CPU time of the process, including its start and the list, per written status.
// - `loopCpuMsPerWrite`: the part of it from the first reconcile on.
// - `rssMB`: peak memory of the process, in 10^6 bytes.
//
// At the end the driver counts the written statuses on the server. `--profile` writes V8's CPU profiles of kubewright.
import { execFile, fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { customResourceDefinitions, defineResource, findCondition } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock, realRandom, seededRandom } from "@kubewright/clock";
import { createHttpTransport, loadKubeConfig } from "@kubewright/transport-http";

const { values: options } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    rounds: { type: "string", default: "3" },
    workers: { type: "string", default: "16" },
    only: { type: "string" },
    profile: { type: "string" },
    role: { type: "string", default: "drive" },
    kubeconfig: { type: "string", default: "" },
  },
});
const OBJECTS = Number(options.objects);
const WORKERS = Number(options.workers);
const GOALS = { cpuMsPerWrite: 0.5, rssMB: 200 };
const SELF = fileURLToPath(import.meta.url);
const GROUP = { group: "example.com", version: "v1" };
const widgets = defineResource({ ...GROUP, resource: "widgets", kind: "Widget", namespaced: true });
const NAMESPACE = "default";

/** Runs an operator until every object has its status. Calls `onReconcile` at the start of each reconcile. */
const contestants = { kubewright, clientNode };

if (options.role === "drive") await drive();
else if (options.role === "serve") await serve();
else await contend(contestants[options.role]);

async function drive() {
  const names = options.only?.split(",") ?? Object.keys(contestants);
  const servers = { embedded: startEmbedded };
  if (process.env.KUBEBUILDER_ASSETS) servers.kubeApiServer = startReal;
  const rows = {};
  for (const [server, start] of Object.entries(servers)) {
    const rounds = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < Number(options.rounds); round++)
      for (const name of names) rounds[name].push(await run(name, start));
    rows[server] = Object.fromEntries(Object.entries(rounds).map(([name, results]) => [name, medians(results)]));
  }
  const { kubewright: ours } = rows.embedded;
  const met =
    ours && Object.fromEntries(Object.entries(GOALS).map(([figure, atMost]) => [figure, ours[figure] <= atMost]));
  const machine = { node: process.version, cpu: os.cpus()[0]?.model, load: os.loadavg().map((load) => round(load)) };
  console.log(
    JSON.stringify({ bench: "operator", objects: OBJECTS, workers: WORKERS, ...machine, rows, goals: GOALS, met }),
  );
}

/** Runs a contestant on a new server. */
async function run(name, start) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "kubewright-bench-"));
  const server = await start(folder);
  try {
    const { transport, close } = createHttpTransport(await loadKubeConfig({ path: server.kubeconfig }));
    const client = new Client({ transport, clock: realClock, userAgent: "bench" });
    await fill(client);
    const profile =
      options.profile !== undefined && name === "kubewright" ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`] : [];
    const args = [...profile, SELF, "--role", name, "--kubeconfig", server.kubeconfig];
    const given = ["--objects", options.objects, "--workers", options.workers];
    const { stdout } = await promisify(execFile)(process.execPath, [...args, ...given], { maxBuffer: 2 ** 24 });
    const { items } = await client.resource(widgets).list({ namespace: NAMESPACE });
    const written = items.filter(({ spec, status }) => status?.seen === spec.size).length;
    if (written !== OBJECTS) throw new Error(`${name} has written ${written} statuses, not ${OBJECTS}`);
    await close();
    return JSON.parse(stdout);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the definition and the objects. */
async function fill(client) {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } };
  const definition = await client.resource(customResourceDefinitions).create({
    metadata: { name: "widgets.example.com" },
    spec: {
      group: GROUP.group,
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: GROUP.version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  });
  const isServed = async () => {
    const { status } = await client.resource(customResourceDefinitions).get(definition.metadata.name);
    return findCondition(status?.conditions, "Established")?.status === "True";
  };
  while (!(await isServed())) await realClock.sleep(100);
  const text = "x".repeat(400);
  await inParallel(64, OBJECTS, (index) =>
    client.resource(widgets).create({
      metadata: { name: `widget-${index}`, namespace: NAMESPACE, labels: { app: `app-${index % 50}` } },
      spec: { size: index, text },
    }),
  );
}

async function inParallel(workers, count, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

async function contend(operate) {
  let start;
  const onReconcile = () => {
    start ??= { ms: performance.now(), cpuMs: cpuMs() };
  };
  await operate(onReconcile);
  const total = cpuMs();
  const seconds = (performance.now() - start.ms) / 1000;
  console.log(
    JSON.stringify({
      reconcilesPerSecond: Math.round(OBJECTS / seconds),
      cpuMsPerWrite: round(total / OBJECTS),
      loopCpuMsPerWrite: round((total - start.cpuMs) / OBJECTS),
      rssMB: Math.round((process.resourceUsage().maxRSS * 1024) / 1e6),
    }),
  );
  process.exit();
}

async function kubewright(onReconcile) {
  const { createOperator, generationChanged } = await import("@kubewright/operator");
  const operator = createOperator({ name: "bench", leaderElection: false });
  const stop = new AbortController();
  let written = 0;
  operator
    .controllerFor(widgets, { workers: WORKERS, predicate: generationChanged })
    .reconcile(async ({ object, client }) => {
      onReconcile();
      await client.patchStatus(widgets, object, { seen: object.spec.size });
      if (++written === OBJECTS) stop.abort();
    });
  const { transport, close } = createHttpTransport(await loadKubeConfig({ path: options.kubeconfig }));
  await operator.run({ transport, clock: realClock, random: realRandom, signal: stop.signal });
  await close();
}

/** The same with client-node: a queue without duplicates, and workers that take objects from the informer's cache. */
async function clientNode(onReconcile) {
  const { CustomObjectsApi, KubeConfig, PatchStrategy, makeInformer, setHeaderOptions } =
    await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromFile(options.kubeconfig);
  const api = config.makeApiClient(CustomObjectsApi);
  const place = { ...GROUP, namespace: NAMESPACE, plural: "widgets" };
  const informer = makeInformer(config, `/apis/example.com/v1/namespaces/${NAMESPACE}/widgets`, () =>
    api.listNamespacedCustomObject(place),
  );
  const queue = new Set();
  let wake = () => {};
  const onEvent = ({ metadata, spec, status }) => {
    if (status?.seen === spec.size) return;
    queue.add(metadata.name);
    wake();
  };
  for (const event of ["add", "update"]) informer.on(event, onEvent);
  informer.on("error", (error) => {
    throw error;
  });
  await informer.start();
  const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  let written = 0;
  const worker = async () => {
    while (written < OBJECTS) {
      const [name] = queue;
      if (name === undefined) {
        await new Promise((resolve) => {
          const previous = wake;
          wake = () => {
            previous();
            resolve();
          };
        });
        continue;
      }
      queue.delete(name);
      onReconcile();
      const { spec } = informer.get(name, NAMESPACE);
      await api.patchNamespacedCustomObjectStatus(
        { ...place, name, body: { status: { seen: spec.size } } },
        mergePatch,
      );
      if (++written === OBJECTS) wake();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await informer.stop();
}

async function startEmbedded(folder) {
  const child = fork(SELF, ["--role", "serve"], { execArgv: [] });
  const url = await new Promise((resolve) => child.once("message", resolve));
  const kubeconfig = path.join(folder, "kubeconfig");
  const named = { name: "bench" };
  // YAML parsers accept JSON. client-node refuses HTTP unless certificates need not be verified.
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ ...named, cluster: { server: url, "insecure-skip-tls-verify": true } }],
      users: [{ ...named, user: {} }],
      contexts: [{ ...named, context: { cluster: "bench", user: "bench" } }],
      "current-context": "bench",
    }),
  );
  const closed = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    child.kill();
    await closed;
  };
  return { kubeconfig, stop };
}

async function startReal(folder) {
  const { startKubeApiServer } = await import("@kubewright/testing/processes");
  return startKubeApiServer(process.env.KUBEBUILDER_ASSETS, folder);
}

async function serve() {
  const { createApiServer } = await import("@kubewright/apiserver");
  const { listen } = await import("@kubewright/apiserver/http");
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const { url } = await listen(server, {});
  process.send(url);
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function medians(results) {
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  return Object.fromEntries(Object.keys(results[0]).map((key) => [key, median(results.map((result) => result[key]))]));
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
