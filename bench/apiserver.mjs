/**
 * Benchmark of the API server under load: many stored pods, watchers that each select a hundredth of them, and a steady
 * rate of writes.
 *
 *     node bench/apiserver.mjs [--pods 100000] [--watchers 200] [--rate 2000] [--seconds 10]
 *
 * The server runs in its own process, which separates its cost from that of the clients. Needs a build. Prints one JSON
 * line:
 *
 * - `http`: the paced load over HTTP. Latencies in milliseconds: of a write until its response, and of an event from
 *   the sending of the write until the event's arrival.
 * - `inProcess`: the maximum rate without HTTP.
 * - `alone`: the maximum rate without HTTP and without watchers.
 */
import { fork } from "node:child_process";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SHARDS = 100;

if (process.env["BENCH_ROLE"] === "server") await serve();
else await drive();

async function drive() {
  const { values } = parseArgs({
    options: {
      pods: { type: "string", default: "100000" },
      watchers: { type: "string", default: "200" },
      rate: { type: "string", default: "2000" },
      seconds: { type: "string", default: "10" },
    },
  });
  const size = {
    pods: Number(values.pods),
    watchers: Number(values.watchers),
    rate: Number(values.rate),
    seconds: Number(values.seconds),
  };
  const child = fork(fileURLToPath(import.meta.url), [], {
    env: { ...process.env, BENCH_ROLE: "server" },
    execArgv: [...process.execArgv, "--expose-gc"],
  });
  child.once("exit", (code) => {
    if (code !== 0) throw new Error(`the server exited with ${code}`);
  });
  const ask = (message) =>
    new Promise((resolve) => {
      child.once("message", resolve);
      child.send(message);
    });
  const loaded = await ask({ type: "load", pods: size.pods });
  const http = await loadOverHttp(loaded.port, size, ask);
  const alone = await ask({ type: "inProcess", watchers: 0, writes: 20_000, pods: size.pods });
  const inProcess = await ask({ type: "inProcess", watchers: size.watchers, writes: 20_000, pods: size.pods });
  child.disconnect();
  console.log(JSON.stringify({ bench: "apiserver", ...size, load: loaded.stats, http, alone, inProcess }));
}

async function loadOverHttp(port, { pods, watchers, rate, seconds }, ask) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const eventLatencies = [];
  let events = 0;
  const streams = [];
  for (let index = 0; index < watchers; index++) {
    const path = `/api/v1/pods?watch=true&resourceVersion=${(await ask({ type: "version" })).version}&labelSelector=shard%3Ds${index % SHARDS}`;
    streams.push(
      await openWatch(port, path, (text) => {
        const now = performance.timeOrigin + performance.now();
        for (const [, sent] of text.matchAll(/"sent":"(\d+\.?\d*)"/g)) {
          events++;
          eventLatencies.push(now - Number(sent));
        }
      }),
    );
  }
  await ask({ type: "reset" });
  const writeLatencies = [];
  const failures = new Map();
  const pending = new Set();
  const total = rate * seconds;
  const started = performance.now();
  for (let written = 0; written < total;) {
    const due = Math.min(total, Math.ceil(((performance.now() - started) / 1000) * rate));
    for (; written < due; written++) {
      const sentAt = performance.timeOrigin + performance.now();
      const body = `{"metadata":{"annotations":{"sent":"${sentAt.toFixed(3)}"}}}`;
      const write = patch(port, agent, podPath((written * 7919) % pods), body).then((status) => {
        writeLatencies.push(performance.timeOrigin + performance.now() - sentAt);
        if (status !== 200) failures.set(status, (failures.get(status) ?? 0) + 1);
        pending.delete(write);
      });
      pending.add(write);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(pending);
  const elapsed = (performance.now() - started) / 1000;
  const expected = total * (watchers / SHARDS);
  for (let wait = 0; wait < 100 && events < expected; wait++) await new Promise((resolve) => setTimeout(resolve, 20));
  const { stats } = await ask({ type: "stats" });
  for (const stream of streams) stream.destroy();
  agent.destroy();
  return {
    writesPerSecond: Math.round(total / elapsed),
    eventsPerSecond: Math.round(events / elapsed),
    missingEvents: Math.round(expected - events),
    failures: Object.fromEntries(failures),
    writeMs: percentiles(writeLatencies),
    eventMs: percentiles(eventLatencies),
    server: { ...stats, cpuShare: round(stats.cpuMs / 1000 / elapsed) },
  };
}

/** Opens a watch. Resolves when its response headers arrive. */
function openWatch(port, path, onText) {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        const text = rest + chunk;
        const end = text.lastIndexOf("\n") + 1;
        rest = text.slice(end);
        if (end > 0) onText(text.slice(0, end));
      });
      response.on("error", () => {});
      resolve(sent);
    });
    sent.on("error", reject);
    sent.end();
  });
}

function patch(port, agent, path, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/merge-patch+json",
      "content-length": Buffer.byteLength(body),
      "user-agent": "bench/1",
    };
    const sent = request({ port, path, agent, method: "PATCH", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function serve() {
  const { createApiServer } = await import("@kubewright/apiserver");
  const { listen } = await import("@kubewright/apiserver/http");
  const { realClock, seededRandom } = await import("@kubewright/clock");
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const { port } = await listen(server);
  let cpu = process.cpuUsage();
  let peakRss = 0;
  const memory = () => {
    const { rss, heapUsed } = process.memoryUsage();
    peakRss = Math.max(peakRss, rss);
    return { rssMiB: mebi(rss), peakRssMiB: mebi(peakRss), heapMiB: mebi(heapUsed) };
  };
  setInterval(memory, 50).unref();
  const send = (method, path, headers, value, signal) =>
    server.transport({
      method,
      path,
      headers,
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
      signal,
    });

  const answers = {
    async load({ pods }) {
      const started = performance.now();
      const headers = { "user-agent": "bench/1" };
      for (let index = 0; index < SHARDS; index++)
        await send("POST", "/api/v1/namespaces", headers, { metadata: { name: namespaceOf(index) } });
      const latencies = [];
      for (let index = 0; index < pods; index++) {
        const before = performance.now();
        await send("POST", `/api/v1/namespaces/${namespaceOf(index)}/pods`, headers, pod(index));
        latencies.push(performance.now() - before);
        if (index % 1000 === 0) await realClock.yieldToEventLoop();
      }
      const seconds = (performance.now() - started) / 1000;
      globalThis.gc?.();
      return {
        port,
        stats: { createsPerSecond: Math.round(pods / seconds), createUs: percentiles(latencies, 1000), ...memory() },
      };
    },
    version: () => ({ version: server.resourceVersion }),
    reset() {
      cpu = process.cpuUsage();
      return {};
    },
    stats() {
      const used = process.cpuUsage(cpu);
      return { stats: { cpuMs: Math.round((used.user + used.system) / 1000), ...memory() } };
    },
    async inProcess({ watchers, writes, pods }) {
      const stop = new AbortController();
      let events = 0;
      const reading = [];
      for (let index = 0; index < watchers; index++) {
        const path = `/api/v1/pods?watch=true&resourceVersion=${server.resourceVersion}&labelSelector=shard%3Ds${index % SHARDS}`;
        const { body } = await send("GET", path, {}, undefined, stop.signal);
        reading.push(
          (async () => {
            for await (const _event of body.events) events++;
          })(),
        );
      }
      const headers = { "user-agent": "bench/1", "content-type": "application/merge-patch+json" };
      const latencies = [];
      const started = performance.now();
      for (let index = 0; index < writes; index++) {
        const before = performance.now();
        await send("PATCH", podPath((index * 7919) % pods), headers, {
          metadata: { annotations: { sent: String(index + Math.random()) } },
        });
        latencies.push(performance.now() - before);
      }
      const seconds = (performance.now() - started) / 1000;
      stop.abort();
      await Promise.all(reading);
      return {
        writesPerSecond: Math.round(writes / seconds),
        events,
        writeUs: percentiles(latencies, 1000),
        ...memory(),
      };
    },
  };
  process.on("disconnect", () => process.exit());
  process.on("message", async (message) => process.send(await answers[message.type](message)));
}

function namespaceOf(index) {
  return `team-${index % SHARDS}`;
}

function podPath(index) {
  return `/api/v1/namespaces/${namespaceOf(index)}/pods/pod-${index}`;
}

/** Creates a pod that resembles the pod of a Job. */
function pod(index) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${index}`,
      // Independent of the namespace's number: the pods of each watcher are in all namespaces.
      labels: {
        shard: `s${Math.floor(index / SHARDS) % SHARDS}`,
        app: "bench",
        "batch.kubernetes.io/job-name": `job-${index >> 3}`,
      },
      finalizers: ["batch.kubernetes.io/job-tracking"],
      ownerReferences: [
        {
          apiVersion: "batch/v1",
          kind: "Job",
          name: `job-${index >> 3}`,
          uid: `00000000-0000-4000-8000-${String(index >> 3).padStart(12, "0")}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      restartPolicy: "Never",
      nodeName: `node-${index % 50}`,
      containers: [
        {
          name: "main",
          image: "registry.example.com/team/worker:1.2.3",
          command: ["/bin/worker", "--shard", String(index)],
          env: [
            { name: "SHARD", value: String(index) },
            { name: "LEVEL", value: "info" },
          ],
          resources: { requests: { cpu: "250m", memory: "256Mi" }, limits: { memory: "512Mi" } },
          volumeMounts: [{ name: "scratch", mountPath: "/scratch" }],
        },
      ],
      volumes: [{ name: "scratch", emptyDir: {} }],
    },
  };
}

function percentiles(values, factor = 1) {
  const sorted = Float64Array.from(values).sort();
  const at = (share) => round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * factor);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

function round(value) {
  return Math.round(value * 100) / 100;
}

function mebi(bytes) {
  return Math.round(bytes / 2 ** 20);
}
