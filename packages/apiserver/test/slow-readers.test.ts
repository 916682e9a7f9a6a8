import { once } from "node:events";
import { type IncomingMessage, get } from "node:http";
import { type Socket, connect } from "node:net";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";
import type { KubernetesObject } from "@kubewright/api";
import { SimulatedClock, realClock, seededRandom } from "@kubewright/clock";
import { parse } from "yaml";

import { type ApiServer, type ApiServerOptions, createApiServer } from "../src/index.js";
import { listen } from "../src/http/listen.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MIB = 1024 * 1024;

const configMap = (name: string, bytes: number, fill = "x"): KubernetesObject & { data: object } => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { value: fill.repeat(bytes) },
});

interface Event {
  readonly type: string;
  readonly object: KubernetesObject & { message?: string; code?: number };
}

function inProcess(options: Partial<ApiServerOptions>): {
  server: ApiServer;
  put: (name: string, bytes: number, fill?: string) => Promise<void>;
  watch: (query?: string) => Promise<AsyncIterator<Event>>;
} {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, ...options });
  const put = async (name: string, bytes: number, fill?: string): Promise<void> => {
    const body = { type: "decoded", value: configMap(name, bytes, fill) } as const;
    const path = `${CONFIG_MAPS}/${name}`;
    let { status } = await server.transport({ method: "PUT", path, headers: {}, body });
    if (status === 404) ({ status } = await server.transport({ method: "POST", path: CONFIG_MAPS, headers: {}, body }));
    expect(status).toBeLessThan(300);
  };
  const watch = async (query = ""): Promise<AsyncIterator<Event>> => {
    const path = `${CONFIG_MAPS}?watch=1${query}`;
    const { body } = await server.transport({ method: "GET", path, headers: {} });
    if (body.type !== "events") throw new Error(`a watch answered with ${body.type}`);
    return (body.events as AsyncIterable<Event>)[Symbol.asyncIterator]();
  };
  return { server, put, watch };
}

/** Reads a watch until its end, or up to the given number of events. */
async function readAll(events: AsyncIterator<Event>, most = Number.POSITIVE_INFINITY): Promise<Event[]> {
  const read: Event[] = [];
  while (read.length < most) {
    const next = await events.next();
    if (next.done === true) break;
    read.push(next.value);
  }
  return read;
}

test("history is kept within its bytes, whose is the most forgets first, and an older watch gets 410", async () => {
  const { server, put, watch } = inProcess({ historyBytes: 2 * MIB });
  const secrets = "/api/v1/namespaces/default/secrets";
  const start = server.resourceVersion;
  for (const name of ["a", "b", "c"]) {
    const body = { type: "decoded", value: { metadata: { name } } } as const;
    await server.transport({ method: "POST", path: secrets, headers: {}, body });
  }
  for (let index = 0; index < 40; index++) await put("big", 100_000, String.fromCharCode(97 + (index % 26)));
  const [error] = await readAll(await watch(`&resourceVersion=${start}`));
  expect(error).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  expect(error!.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
  const recent = await readAll(await watch(`&resourceVersion=${Number(server.resourceVersion) - 5}`), 5);
  expect(recent.map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => "MODIFIED"));
  const path = `${secrets}?watch=1&resourceVersion=${start}`;
  const { body } = await server.transport({ method: "GET", path, headers: {} });
  const others = (body as { events: AsyncIterable<Event> }).events[Symbol.asyncIterator]();
  expect((await readAll(others, 3)).map(({ object }) => object.metadata.name)).toEqual(["a", "b", "c"]);
});

test("small changes of large objects leave the history long", async () => {
  const { server, put, watch } = inProcess({ historyBytes: 4 * MIB });
  await put("big", 500_000);
  const start = server.resourceVersion;
  const { body } = await server.transport({ method: "GET", path: `${CONFIG_MAPS}/big`, headers: {} });
  let current = (body as { value: KubernetesObject }).value;
  for (let index = 0; index < 500; index++) {
    const value = { ...current, metadata: { ...current.metadata, labels: { index: String(index) } } };
    const answer = await server.transport({
      method: "PUT",
      path: `${CONFIG_MAPS}/big`,
      headers: {},
      body: { type: "decoded", value },
    });
    current = (answer.body as { value: KubernetesObject }).value;
  }
  expect(await readAll(await watch(`&resourceVersion=${start}`), 500)).toHaveLength(500);
});

test("a watcher that does not read is cut off, one that reads is not, and an object held by several counts once", async () => {
  const { server, put, watch } = inProcess({ backlogBytes: 4 * MIB });
  const reads = await watch();
  const slow = await Promise.all(Array.from({ length: 50 }, () => watch()));
  const read: string[] = [];
  for (let index = 0; index < 10; index++) {
    await put("big", 100_000, String.fromCharCode(97 + index));
    read.push(...(await readAll(reads, 1)).map(({ type }) => type));
  }
  // Two megabytes of replaced objects, fifty times.
  const caughtUp = slow[0]!;
  expect((await readAll(caughtUp, 10)).map(({ type }) => type)).toEqual(read);
  for (let index = 0; index < 40; index++) {
    await put("big", 100_000, String.fromCharCode(65 + (index % 26)));
    read.push(...(await readAll(reads, 1)).map(({ type }) => type));
    await readAll(caughtUp, 1);
  }
  expect(read).toHaveLength(50);
  for (const watcher of slow.slice(1)) expect(await readAll(watcher)).toEqual([]);
  await put("big", 1);
  expect(await readAll(reads, 1)).toHaveLength(1);
  expect(await readAll(caughtUp, 1)).toHaveLength(1);
  expect(server.resourceVersion).toBeDefined();
});

test("who has yet to read what there was at the start is behind, too", async () => {
  const { put, watch } = inProcess({ backlogBytes: MIB });
  for (const name of ["a", "b", "c", "d"]) await put(name, 200_000);
  const slow = await watch("&resourceVersion=0");
  expect((await readAll(slow, 1))[0]).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  for (const name of ["a", "b", "c", "d"]) await put(name, 200_000, "y");
  expect(await readAll(slow)).toEqual([]);
});

interface Listening {
  readonly server: ApiServer;
  readonly url: string;
  readonly port: number;
  readonly put: (name: string, bytes: number, fill?: string) => Promise<void>;
}

async function overHttp(options: Partial<ApiServerOptions> = {}, stalledMs?: number): Promise<Listening> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, ...options });
  const { url, port } = await listen(server, stalledMs === undefined ? {} : { stalledMs });
  onTestFinished(() => server.close());
  const put = async (name: string, bytes: number, fill?: string): Promise<void> => {
    const init = {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(configMap(name, bytes, fill)),
    };
    let answer = await fetch(`${url}${CONFIG_MAPS}/${name}`, { method: "PUT", ...init });
    if (answer.status === 404) answer = await fetch(`${url}${CONFIG_MAPS}`, { method: "POST", ...init });
    expect(answer.status).toBeLessThan(300);
    await answer.arrayBuffer();
  };
  return { server, url, port, put };
}

/** Sends a request and pauses after the start of the response. `rest` reads the remainder. */
async function askAndStop(
  port: number,
  path: string,
  headers = "",
): Promise<{ socket: Socket; rest: () => Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`);
  let text = "";
  const onData = (chunk: Buffer): unknown => (text += chunk.toString("latin1"));
  socket.on("data", onData);
  await once(socket, "data");
  socket.pause();
  return {
    socket,
    rest: async () => {
      const closed = once(socket, "close");
      socket.resume();
      await closed;
      return text;
    },
  };
}

test("a watch over a socket that is not read ends after a whole event, and other watches receive every event", async () => {
  const { port, url, put } = await overHttp({ backlogBytes: 8 * MIB }, 60_000);
  await put("big", 1);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const healthy = await fetch(`${url}${CONFIG_MAPS}?watch=1`, { signal: stop.signal });
  let seen = "";
  const reading = (async () => {
    for await (const chunk of healthy.body!)
      seen += Buffer.from(chunk as Uint8Array)
        .toString("latin1")
        .replaceAll(/x{2,}|y{2,}/g, "");
  })().catch(() => undefined);
  const { rest } = await askAndStop(port, `${CONFIG_MAPS}?watch=1`, "connection: close\r\n");
  const writes = 40;
  for (let index = 0; index < writes; index++) await put("big", 900_000, index % 2 === 0 ? "x" : "y");
  const received = await rest();
  const events = received.match(/\{"type":"(ADDED|MODIFIED)"/g) ?? [];
  expect(events.length).toBeGreaterThan(1);
  expect(events.length).toBeLessThan(writes);
  // The last event and the end of the chunked response.
  expect(received).toMatch(/"\}\}\r\n2\r\n\}\n\r\n0\r\n\r\n$/);
  await expect.poll(() => seen.match(/"type":"MODIFIED"/g)?.length).toBe(writes);
  stop.abort();
  await reading;
});

test("a list that is not read is cut off when what it keeps becomes too much, and by then others have been served", async () => {
  const { port, url, put } = await overHttp({ backlogBytes: 8 * MIB });
  for (let index = 0; index < 24; index++) await put(`c${index}`, 900_000);
  const { socket } = await askAndStop(port, CONFIG_MAPS);
  const closed = once(socket, "close");
  for (let index = 0; index < 24; index++) await put(`c${index}`, 900_000, "y");
  socket.resume();
  await closed;
  const list = (await (await fetch(`${url}${CONFIG_MAPS}`)).json()) as { items: object[] };
  expect(list.items).toHaveLength(24);
});

test("a client that takes nothing of a long answer for a while is cut off", async () => {
  const { port, put } = await overHttp({}, 300);
  for (let index = 0; index < 24; index++) await put(`c${index}`, 900_000);
  const { socket, rest } = await askAndStop(port, CONFIG_MAPS);
  // The server's timer runs on the same thread and was set before this one, so it fires first, whatever the load.
  await new Promise((resolve) => realClock.setTimer(1500, () => resolve(undefined)));
  const received = await rest();
  expect(socket.destroyed).toBe(true);
  expect(received.length).toBeLessThan(24 * 900_000);
});

test("an idle watch stays open, however long nothing happens", async () => {
  const { port, put } = await overHttp({}, 100);
  const { socket } = await askAndStop(port, `${CONFIG_MAPS}?watch=1`);
  await new Promise((resolve) => realClock.setTimer(600, () => resolve(undefined)));
  let seen = "";
  socket.on("data", (chunk: Buffer) => (seen += chunk.toString()));
  socket.resume();
  await put("a", 1);
  await expect.poll(() => seen).toContain('"ADDED"');
});

test.each([
  ["JSON", "application/json", ""],
  ["JSON to be looked at", "application/json", "&pretty=1"],
  ["YAML", "application/yaml", ""],
  ["a Table", "application/json;as=Table;g=meta.k8s.io;v=v1", ""],
  ["a Table to be looked at", "application/json;as=Table;g=meta.k8s.io;v=v1", "&pretty=1"],
])("a long list reads the same as a short one, compressed or not: %s", async (_what, accept, query) => {
  const { url, server, put } = await overHttp({ clock: new SimulatedClock("2026-01-01T00:00:00Z") });
  for (const [index, size] of [1, 20_000, 0, 1000, 60_000, 5].entries()) await put(`c${index}`, size, "ü\n- ");
  const path = `${CONFIG_MAPS}?includeObject=Object`;
  const { body } = await server.transport({ method: "GET", path, headers: { accept } });
  const parsed = (text: string): unknown =>
    (accept.includes("yaml") ? parse(text, { version: "1.1" }) : JSON.parse(text)) as unknown;
  // Node's own client does not request compression.
  const response = once(get(`${url}${path}${query}`, { headers: { accept } }), "response") as Promise<
    [IncomingMessage]
  >;
  const [incoming] = await response;
  expect(incoming.headers["content-encoding"]).toBeUndefined();
  const plain = await text(incoming);
  expect(parsed(plain)).toEqual((body as { value: unknown }).value);
  expect(plain.includes("\n  ")).toBe(query !== "" || accept.includes("yaml"));
  const zipped = await fetch(`${url}${path}${query}`, { headers: { accept } });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(await zipped.text()).toBe(plain);
});
