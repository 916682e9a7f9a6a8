import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

/**
 * Concurrent load that could exhaust a server. With KUBEWRIGHT_HEAVY=1 it runs for two minutes with the number of
 * clients below, and prints the latencies of other clients.
 */
const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const LOAD = HEAVY
  ? { forMs: 120_000, slowWatchers: 200, halfSent: 200, idle: 1005, updates: 600, maxMs: 5000 }
  : { forMs: 3000, slowWatchers: 20, halfSent: 20, idle: 100, updates: 60, maxMs: Number.POSITIVE_INFINITY };
const BINARY = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const MAX_RSS_MIB = 800;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const JSON_BODY = { "content-type": "application/json" };

interface Server {
  readonly port: number;
  readonly rssMiB: () => number;
  /** Stops the server and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

async function serve(snapshot: string): Promise<Server> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run "npm run build" first`);
  const flags = ["serve", "--port", "0", "--controllers", "", "--kubelet", "none", "--snapshot", snapshot];
  const child = spawn(process.execPath, ["--max-old-space-size=512", BINARY, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  await expect.poll(() => output).toMatch(/Serving on/);
  return {
    port: Number(/Serving on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)![1]),
    rssMiB: () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

/** Sends a request on a new connection, and returns the status code. */
async function ask(port: number, options: RequestOptions, body?: string): Promise<number> {
  const sent = request({ host: "127.0.0.1", port, ...options, headers: body === undefined ? {} : JSON_BODY });
  sent.end(body);
  const [incoming] = (await once(sent, "response")) as [IncomingMessage];
  await text(incoming);
  return incoming.statusCode ?? 0;
}

function configMap(name: string, value: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value } });
}

/** Opens a connection that sends the text and never reads. */
function dead(port: number, said: string): Socket {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  // The server may close the connection.
  socket.on("error", () => undefined);
  socket.write(said);
  return socket.pause();
}

/** Requests that are refused after expensive work. */
const MEAN: readonly (readonly [code: number, method: string, path: string, body: string])[] = [
  [400, "POST", CONFIG_MAPS, `{"metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_001)}`],
  [413, "POST", CONFIG_MAPS, configMap("huge", "x".repeat(4 * 1024 * 1024))],
  [
    422,
    "POST",
    CONFIG_MAPS,
    JSON.stringify({
      metadata: {
        name: "a",
        labels: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`l${index}`, "!"])),
      },
    }),
  ],
];

test.runIf(process.platform === "linux")(
  "a server with little memory outlives slow, mean and idle clients, and serves all others meanwhile",
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const snapshot = path.join(folder, "store.json");
    const { port, rssMiB, stop } = await serve(snapshot);
    expect(await ask(port, { method: "POST", path: CONFIG_MAPS }, configMap("big", ""))).toBe(201);
    expect(await ask(port, { method: "POST", path: CONFIG_MAPS }, configMap("small", ""))).toBe(201);
    for (let index = 0; index < LOAD.slowWatchers; index++)
      dead(port, `GET ${CONFIG_MAPS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    for (let index = 0; index < LOAD.halfSent; index++)
      dead(
        port,
        `POST ${CONFIG_MAPS} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\n\r\n${"x".repeat(100_000)}`,
      );
    for (let index = 0; index < LOAD.idle; index++) dead(port, "");

    const startedMs = performance.now();
    const isOver = (): boolean => performance.now() - startedMs > LOAD.forMs;
    let maxRss = 0;
    const latencies: number[] = [];
    const others = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true });
      for (let index = 0; !isOver(); index++) {
        const askedMs = performance.now();
        const body = configMap("small", String(index));
        expect(await ask(port, { method: "PUT", path: `${CONFIG_MAPS}/small`, agent }, body)).toBe(200);
        expect(await ask(port, { path: `${CONFIG_MAPS}/small`, agent })).toBe(200);
        latencies.push((performance.now() - askedMs) / 2);
        maxRss = Math.max(maxRss, rssMiB());
        await sleep(20);
      }
      agent.destroy();
    };
    const large = async (): Promise<void> => {
      for (let index = 0; index < LOAD.updates; index++) {
        const body = configMap("big", String.fromCharCode(97 + (index % 26)).repeat(900_000));
        expect(await ask(port, { method: "PUT", path: `${CONFIG_MAPS}/big` }, body)).toBe(200);
        const dueMs = (LOAD.forMs * (index + 1)) / LOAD.updates;
        await sleep(Math.max(0, dueMs - (performance.now() - startedMs)));
      }
    };
    const mean = async (): Promise<void> => {
      for (let round = 0; !isOver(); round++) {
        const [code, method, path, body] = MEAN[round % MEAN.length]!;
        expect(await ask(port, { method, path }, body).catch(() => code)).toBe(code);
        // A list whose response the client does not read.
        dead(port, `GET ${CONFIG_MAPS} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
        await sleep(250);
      }
    };
    await Promise.all([others(), large(), mean()]);

    const sorted = latencies.toSorted((a, b) => a - b);
    const share = (part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)]!);
    console.log(
      `${sorted.length * 2} requests of others: ${share(0.5)} ms the middle one, ${share(0.99)} ms the hundredth, ${share(1)} ms at most; ${Math.round(maxRss)} MiB at most`,
    );
    expect(maxRss).toBeLessThan(MAX_RSS_MIB);
    expect(share(0.99)).toBeLessThan(LOAD.maxMs);
    expect(await stop()).toBe(0);
    const { objects } = JSON.parse(readFileSync(snapshot, "utf8")) as {
      objects: Record<string, { metadata: { name: string } }[]>;
    };
    expect(objects["/configmaps"]!.map(({ metadata }) => metadata.name)).toEqual(["big", "small"]);
  },
  LOAD.forMs + 120_000,
);
