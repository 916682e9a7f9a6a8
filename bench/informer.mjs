#!/usr/bin/env node
// Benchmark of the first sync of an informer, compared with a bare paged list and with @kubernetes/client-node's
// informer. Prints one JSON line. Needs `npm run build`.
//
//     node bench/informer.mjs [--pods 26200] [--rounds 3] [--events 200000] [--plain] [--only NAME,NAME]
//
// The server is embedded and filled with pods like those of make-pods.mjs. The server and each contestant run in
// separate processes, over HTTPS (--plain: HTTP). The figures are medians of the rounds:
//
// - `ms`: time until everything is cached.
// - `cpuMs`: CPU time of the process until then, including its start.
// - `heapMiB`: heap in use then, after a garbage collection.
// - `rssMiB`: peak memory of the process.
// - `timesBare`, `cpuTimesBare`: medians of the ratios within a round.
//
// The contestants are interleaved, so that a busy machine affects all of them.
import { execFile, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const { values: options } = parseArgs({
  options: {
    pods: { type: "string", default: "26200" },
    rounds: { type: "string", default: "3" },
    events: { type: "string", default: "200000" },
    plain: { type: "boolean", default: false },
    only: { type: "string" },
    role: { type: "string", default: "drive" },
    server: { type: "string", default: "" },
  },
});
const PODS = Number(options.pods);
const PATH = "/api/v1/pods";
const SELF = fileURLToPath(import.meta.url);
/** Reads a certificate file for 127.0.0.1. */
const pem = (name) => readFileSync(new URL(`../packages/transport-http/fixtures/${name}`, import.meta.url), "utf8");

// Objects are cached without `metadata.managedFields`, two thirds of their heap, like in kube-controller-manager.
// client-node has no such transform.
const contestants = {
  /** Lower bound for clients that cache their objects: `limit=500`, and JSON.parse of each page. */
  barePagedList: () => barePagedList(true),
  bareEverythingKept: () => barePagedList(false),
  /** kubewright's default: the server streams the initial list. */
  kubewrightStreamed: () => kubewright({ watchList: true }),
  /**
   * kubewright with a server that does not stream: one list at resourceVersion 0, which servers with a cache do not
   * page.
   */
  kubewrightListed: () => kubewright({ watchList: false }),
  kubewrightEverythingKept: () => kubewright({ watchList: true, transform: undefined }),
  kubewrightClientNodeAdapter: clientNodeAdapter,
  clientNode,
};

if (options.role === "drive") await drive();
else if (options.role === "serve") await serve();
else if (options.role === "events") await events();
else await contend(options.role);

async function drive() {
  const server = fork(SELF, ["--role", "serve", "--pods", options.pods, ...(options.plain ? ["--plain"] : [])], {
    execArgv: [],
  });
  const { url, bytesPerPod } = await new Promise((resolve) => server.once("message", resolve));
  const names = options.only === undefined ? Object.keys(contestants) : ["barePagedList", ...options.only.split(",")];
  const rounds = Object.fromEntries(names.map((name) => [name, []]));
  try {
    for (let round = 0; round < Number(options.rounds); round++)
      for (const name of names) rounds[name].push(await child(name, url));
    const rows = Object.fromEntries(Object.entries(rounds).map(([name, results]) => [name, medians(results)]));
    for (const name of names) {
      const timesBare = (key) =>
        round(median(rounds[name].map((result, index) => result[key] / rounds.barePagedList[index][key])));
      Object.assign(rows[name], { timesBare: timesBare("ms"), cpuTimesBare: timesBare("cpuMs") });
    }
    const limits = { timesBare: 1.15, heapMiB: 150, rssMiB: 420 };
    for (const name of ["kubewrightStreamed", "kubewrightListed"]) {
      const row = rows[name];
      if (row !== undefined) row.met = Object.entries(limits).every(([figure, atMax]) => row[figure] <= atMax);
    }
    const eventsPerSecond = await child("events", "");
    const machine = { node: process.version, cpu: os.cpus()[0]?.model };
    console.log(
      JSON.stringify({
        bench: "informer",
        protocol: options.plain ? "http" : "https",
        pods: PODS,
        bytesPerPod,
        ...machine,
        rows,
        goals: limits,
        ...eventsPerSecond,
      }),
    );
  } finally {
    server.kill();
  }
}

async function child(role, url) {
  const args = [
    "--expose-gc",
    SELF,
    "--role",
    role,
    "--server",
    url,
    "--pods",
    options.pods,
    "--events",
    options.events,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

function medians(results) {
  return Object.fromEntries(
    Object.keys(results[0]).map((key) => {
      return [key, median(results.map((result) => result[key]))];
    }),
  );
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

async function contend(name) {
  const start = performance.now();
  const { count, keep, stop } = await contestants[name]();
  const ms = Math.round(performance.now() - start);
  const { user, system } = process.cpuUsage();
  const cpuMs = Math.round((user + system) / 1000);
  if (count !== PODS) throw new Error(`${name} has ${count} pods, not ${PODS}`);
  const rssMiB = Math.round(process.resourceUsage().maxRSS / 1024);
  globalThis.gc();
  globalThis.gc();
  const heapMiB = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  if (keep === undefined) throw new Error("nothing was kept");
  console.log(JSON.stringify({ ms, cpuMs, heapMiB, rssMiB }));
  await stop();
  process.exit();
}

async function barePagedList(trimmed) {
  const { Agent, request } = await import("undici");
  const dispatcher = new Agent({ connect: { ca: pem("ca.crt") } });
  const items = [];
  for (let token = ""; ;) {
    const { body } = await request(
      `${options.server}${PATH}?limit=500${token && `&continue=${encodeURIComponent(token)}`}`,
      { dispatcher },
    );
    const list = JSON.parse(await body.text());
    for (const item of list.items) {
      if (trimmed) {
        const { managedFields: _dropped, ...metadata } = item.metadata;
        item.metadata = metadata;
      }
      items.push(item);
    }
    token = list.metadata.continue ?? "";
    if (token === "") return { count: items.length, keep: items, stop: async () => {} };
  }
}

async function kubewright(given) {
  const [
    { pods },
    { Client },
    { realClock, realRandom },
    { createHttpTransport },
    { SharedInformer, withoutManagedFields },
  ] = await Promise.all([
    import("@kubewright/api"),
    import("@kubewright/client"),
    import("@kubewright/clock"),
    import("@kubewright/transport-http"),
    import("@kubewright/informer"),
  ]);
  const { transport, close } = createHttpTransport({ server: options.server, ca: pem("ca.crt") });
  const client = new Client({ transport, clock: realClock }).resource(pods);
  const settings = { clock: realClock, random: realRandom, transform: withoutManagedFields, onError: console.error };
  const informer = new SharedInformer({ ...settings, client, ...given });
  let updates = 0;
  informer.addEventHandler({ onAdd: () => void updates++ });
  const controller = new AbortController();
  const stopped = informer.run(controller.signal);
  await informer.waitForSync();
  const stop = async () => {
    controller.abort();
    await stopped;
    await close();
  };
  return { count: Math.min(updates, informer.store.list().length), keep: informer, stop };
}

async function kubeConfig() {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const caData = Buffer.from(pem("ca.crt")).toString("base64");
  config.loadFromClusterAndUser({ name: "bench", server: options.server, caData }, { name: "bench" });
  return config;
}

async function clientNodeAdapter() {
  const { makeInformer, withoutManagedFields } = await import("@kubewright/informer/client-node");
  const informer = makeInformer(await kubeConfig(), PATH, undefined, undefined, { transform: withoutManagedFields });
  await informer.start();
  return { count: informer.list().length, keep: informer, stop: () => informer.stop() };
}

async function clientNode() {
  const { CoreV1Api, makeInformer } = await import("@kubernetes/client-node");
  const config = await kubeConfig();
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, PATH, () => api.listPodForAllNamespaces());
  informer.on("error", console.error);
  await informer.start();
  return { count: informer.list().length, keep: informer, stop: () => informer.stop() };
}

/** Measures events through the informer alone: decoded objects in process, 26,200 pods, one index, one handler. */
async function events() {
  const [{ pods }, { Client }, { realClock, seededRandom }, { SharedInformer }] = await Promise.all([
    import("@kubewright/api"),
    import("@kubewright/client"),
    import("@kubewright/clock"),
    import("@kubewright/informer"),
  ]);
  const make = (index, version) => ({
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: `pod-${index}`,
      namespace: `ns-${index % 50}`,
      resourceVersion: String(version),
      labels: { job: `job-${index % 500}` },
    },
  });
  const items = Array.from({ length: PODS }, (_, index) => make(index, index + 1));
  const total = Number(options.events);
  const changes = Array.from({ length: total }, (_, index) => ({
    type: "MODIFIED",
    object: make(index % PODS, PODS + index + 1),
  }));
  const transport = async ({ path, signal }) => {
    if (!path.includes("watch=true"))
      return {
        status: 200,
        headers: {},
        body: { type: "decoded", value: { metadata: { resourceVersion: String(PODS) }, items } },
      };
    const stream = async function* () {
      yield* changes;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    return { status: 200, headers: {}, body: { type: "events", events: stream() } };
  };
  const client = new Client({ transport, clock: realClock }).resource(pods);
  const indexers = { job: ({ metadata }) => [metadata.labels.job] };
  const informer = new SharedInformer({
    client,
    clock: realClock,
    random: seededRandom(1),
    watchList: false,
    indexers,
  });
  let updates = 0;
  const done = new Promise((resolve) =>
    informer.addEventHandler({ onUpdate: () => void (++updates === total && resolve()) }),
  );
  const controller = new AbortController();
  const stopped = informer.run(controller.signal);
  await informer.waitForSync();
  const start = performance.now();
  await done;
  const eventsPerSecond = Math.round(total / ((performance.now() - start) / 1000));
  controller.abort();
  await stopped;
  console.log(JSON.stringify({ eventsPerSecond }));
}

async function serve() {
  const [{ namespaces, pods }, { createApiServer }, { listen }, { Client }, { realClock, seededRandom }] =
    await Promise.all([
      import("@kubewright/api"),
      import("@kubewright/apiserver"),
      import("@kubewright/apiserver/http"),
      import("@kubewright/client"),
      import("@kubewright/clock"),
    ]);
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const client = new Client({ transport: server.transport, clock: realClock, userAgent: "make-pods" });
  for (let index = 0; index < 10; index++)
    await client.resource(namespaces).create({ metadata: { name: `fill-${index}` } });
  const writer = client.resource(pods);
  let last;
  for (let index = 0; index < PODS; index++) last = await writer.create(pod(index));
  const tls = options.plain ? {} : { tls: { key: pem("server.key"), cert: pem("server.crt") } };
  const { url } = await listen(server, tls);
  process.send({ url, bytesPerPod: Buffer.byteLength(JSON.stringify(last)) });
}

/** Creates a pod like make-pods.mjs. */
function pod(i) {
  const env = Array.from({ length: 12 }, (_, n) => ({
    name: `SETTING_${n}`,
    value: `value-of-setting-${n}-${"x".repeat(20)}`,
  }));
  const job = i % 500;
  const labels = {
    app: `app-${i % 50}`,
    "batch.kubernetes.io/job-name": `job-${job}`,
    "batch.kubernetes.io/controller-uid": `00000000-0000-4000-8000-${String(job).padStart(12, "0")}`,
  };
  const annotations = { "example.com/checksum": "a".repeat(64) };
  const resources = { requests: { cpu: "250m", memory: "256Mi" }, limits: { cpu: "1", memory: "512Mi" } };
  const containers = [0, 1].map((k) => ({
    name: `c${k}`,
    image: `registry.example.com/team/worker:${i % 9}.1.0`,
    command: ["/bin/worker", "--shard", String(i)],
    env,
    resources,
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `worker-${i}`,
      namespace: `fill-${i % 10}`,
      labels,
      annotations,
      finalizers: ["batch.kubernetes.io/job-tracking"],
    },
    spec: { restartPolicy: "Never", containers, volumes: [{ name: "data", emptyDir: {} }] },
  };
}

function round(value) {
  return Math.round(value * 100) / 100;
}
