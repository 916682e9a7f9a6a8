import { type Socket, connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { realClock, seededRandom } from "@kubewright/clock";
import { expect, onTestFinished, test } from "vitest";

import { type ApiServer, createApiServer } from "../api-server.js";
import type { ApiServerOptions } from "../api-server-options.js";
import { listen } from "./listen.js";

const MIB = 1024 * 1024;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const nobodyKnown = { authentication: { anonymous: false, tokens: { t: { username: "u" } } } };
const configMap = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a" } });

interface Served {
  readonly server: ApiServer;
  readonly port: number;
}

async function serve(options: Partial<ApiServerOptions> = {}, requestTimeoutMs?: number): Promise<Served> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), ...options });
  const { port } = await listen(server, requestTimeoutMs === undefined ? {} : { requestTimeoutMs });
  onTestFinished(() => server.close());
  return { server, port };
}

/** A raw connection. */
class Client {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  text = "";
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => {
      this.text += String(chunk);
      this.#wake();
    });
    this.socket.on("close", () => this.#wake());
    onTestFinished(() => void this.socket.destroy());
  }

  /** Sends the head of a request with the given body length, and the given part of the body. */
  post(path: string, length: number, body: string | Uint8Array, ...headers: string[]): void {
    const lines = [`POST ${path} HTTP/1.1`, "host: localhost", `content-length: ${length}`, ...headers];
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    this.socket.write(body);
  }

  /** Resolves when the response matches the pattern, or the connection is closed. */
  async answered(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text) && !this.socket.closed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.text;
  }
}

const STATUS = /"code":\d+}/;
const json = "content-type: application/json";

/** Returns the bytes outside the heap that are still referenced, after garbage collection. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

test("200 unauthenticated clients that send half a body cost almost no memory and get 401", async () => {
  const { port } = await serve(nobodyKnown);
  const half = Buffer.alloc(2 * MIB);
  const before = heldBytes();
  const clients = Array.from({ length: 200 }, () => new Client(port));
  for (const client of clients) client.post(CONFIG_MAPS, 3 * MIB, half, json);
  const held: number[] = [];
  let gone = 0;
  await Promise.all(
    clients.map(async ({ closed }) => {
      await closed;
      if (gone++ % 20 === 0) held.push(heldBytes() - before);
    }),
  );
  expect(held).toHaveLength(10);
  expect(Math.max(...held)).toBeLessThan(40 * MIB);
  for (const { text } of clients) expect(text).toMatch(/^HTTP\/1\.1 401 .*connection: close/is);
});

test("a refused client gets its answer immediately and has the request timeout to send the rest of a short body", async () => {
  const impatient = await serve(nobodyKnown, 500);
  const slow = new Client(impatient.port);
  slow.post(CONFIG_MAPS, 1000, "x");
  expect(await slow.answered(STATUS)).toMatch(/^HTTP\/1\.1 401 .*connection: keep-alive/is);
  await slow.closed;
  const quick = new Client((await serve(nobodyKnown)).port);
  quick.post(CONFIG_MAPS, 1000, "x");
  await quick.answered(STATUS);
  quick.text = "";
  quick.socket.write("x".repeat(999));
  quick.post(CONFIG_MAPS, configMap.length, configMap, json, "authorization: Bearer t");
  expect(await quick.answered(/}$/)).toMatch(/^HTTP\/1\.1 201 /);
});

test("a body that does not come in time is answered with 504, and headers that do not with nothing", async () => {
  const { port } = await serve({}, 2000);
  const body = new Client(port);
  body.post(CONFIG_MAPS, 1000, "{", json);
  const head = new Client(port);
  head.socket.write("GET / HTTP/1.1\r\nhost:");
  const idle = new Client(port);
  await Promise.all([body.closed, head.closed, idle.closed]);
  expect(body.text).toMatch(
    /^HTTP\/1\.1 504 .*connection: close.*"message":"Timeout: request did not complete within the/is,
  );
  expect(head.text + idle.text).toBe("");
});

test("a body over the limit is a 413 after other errors and ends the connection, however long the client keeps sending", async () => {
  const { port } = await serve();
  const endless = new Client(port);
  endless.post(CONFIG_MAPS, 10 ** 12, "", json);
  const chunk = Buffer.alloc(64 * 1024);
  const sendMore = (): void => void (endless.socket.closed || endless.socket.write(chunk, sendMore));
  sendMore();
  await endless.closed;
  expect(endless.text).toMatch(/^HTTP\/1\.1 413 .*connection: close.*"Request entity too large: limit is 3145728"/is);
  const other = new Client(port);
  other.post(CONFIG_MAPS, 4 * MIB, Buffer.alloc(4 * MIB), "content-type: text/csv");
  expect(await other.answered(STATUS)).toMatch(/^HTTP\/1\.1 415 /);
});

test("all bodies that are being received share 128 MiB, and give them back", async () => {
  const { port } = await serve();
  const most = Buffer.alloc(3 * MIB - 1024);
  const before = heldBytes();
  const clients = Array.from({ length: 60 }, () => new Client(port));
  for (const client of clients) client.post(CONFIG_MAPS, 3 * MIB, most, json);
  const refused = (): Client[] => clients.filter(({ text }) => text !== "");
  await expect.poll(() => refused().length).toBeGreaterThanOrEqual(17);
  // Without a limit: 240 MiB, a buffer of 4 MiB each.
  expect(heldBytes() - before).toBeLessThan(136 * MIB);
  for (const { text } of refused()) expect(text).toMatch(/^HTTP\/1\.1 429 .*retry-after: 1/is);
  for (const { socket } of clients) socket.destroy();
  await Promise.all(clients.map(({ closed }) => closed));
  // The server has no memory left until it notices that the other connections are closed.
  await expect
    .poll(async () => {
      const after = new Client(port);
      after.post(CONFIG_MAPS, 3 * MIB, Buffer.alloc(3 * MIB, " "), json);
      return after.answered(STATUS);
    })
    .toMatch(/^HTTP\/1\.1 400 /);
});

test("a client that breaks off in the middle of its body is no failure of the server", async () => {
  const errors: unknown[] = [];
  const { server, port } = await serve({ onError: (error) => errors.push(error) });
  const ended = new Promise((resolve) => server.observe(resolve));
  const client = new Client(port);
  client.post(CONFIG_MAPS, 1000, "", json, "expect: 100-continue");
  // The server now waits for the body.
  await client.answered(/ 100 Continue\r\n/);
  client.socket.write("{", () => client.socket.destroy());
  await ended;
  expect(errors).toEqual([]);
});

test("a body in thousands of pieces is as good as one in one piece", async () => {
  const { port } = await serve();
  const client = new Client(port);
  const pieces = configMap.padEnd(100_000).split("");
  client.socket.write(
    `POST ${CONFIG_MAPS} HTTP/1.1\r\nhost: localhost\r\n${json}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  client.socket.write(pieces.map((piece) => `1\r\n${piece}\r\n`).join(""));
  client.socket.write("0\r\n\r\n");
  expect(await client.answered(/}$/)).toMatch(/^HTTP\/1\.1 201 /);
});

test("a client that expects 100-continue gets it only if a handler reads the body", async () => {
  const { port } = await serve(nobodyKnown);
  const expects = [json, "expect: 100-continue"];
  const unknown = new Client(port);
  unknown.post(CONFIG_MAPS, configMap.length, "", ...expects);
  await unknown.closed;
  expect(unknown.text).toMatch(/^HTTP\/1\.1 401 .*connection: close/is);
  const known = new Client(port);
  known.post(CONFIG_MAPS, configMap.length, "", ...expects, "authorization: Bearer t");
  expect(await known.answered(/\r\n\r\n/)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  known.socket.write(configMap);
  expect(await known.answered(/}$/)).toMatch(/ 201 Created/);
});

test("headers may have 1 MiB, and what cannot be read is answered as Go does", async () => {
  const { port } = await serve();
  const ask = async (request: string): Promise<string> => {
    const client = new Client(port);
    client.socket.write(`${request}\r\n\r\n`);
    await client.answered(/\r\n\r\n./s);
    return client.text;
  };
  expect(await ask(`GET /version HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(MIB - 200)}`)).toMatch(
    /^HTTP\/1\.1 200 /,
  );
  const goPage = (text: string): string =>
    `HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;
  expect(await ask(`GET /version HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(MIB + 4096)}`)).toBe(
    goPage("431 Request Header Fields Too Large"),
  );
  expect(await ask("GET / nonsense")).toBe(goPage("400 Bad Request"));
  expect(await ask("GET /api/v1/namespaces/%zz/pods HTTP/1.1\r\nhost: localhost")).toMatch(
    /^HTTP\/1\.1 400 .*connection: close.*content-type: text\/plain; charset=utf-8.*\r\n\r\n400 Bad Request$/is,
  );
  const many = Array.from({ length: 3000 }, (_, index) => `x-${index}: x`).join("\r\n");
  expect(await ask(`GET /version HTTP/1.1\r\nhost: localhost\r\n${many}\r\nimpersonate-group: g`)).toMatch(
    /^HTTP\/1\.1 500 /,
  );
});

test("a path of one's own has its body read when the request has been permitted, up to the limit", async () => {
  const seen: number[] = [];
  const { port } = await serve({
    authorization: ({ path }) => ({ allowed: path === "/open", reason: "" }),
    paths: Object.fromEntries(
      ["/open", "/closed"].map((path) => [
        path,
        async ({ body }) => {
          seen.push(body?.type === "bytes" ? body.bytes.byteLength : 0);
          return { status: 200, contentType: "text/plain", text: "seen" };
        },
      ]),
    ),
  });
  const open = new Client(port);
  open.post("/open", 5, "hello");
  expect(await open.answered(/seen$/)).toMatch(/^HTTP\/1\.1 200 /);
  const closed = new Client(port);
  closed.post("/closed", 3 * MIB, "");
  expect(await closed.answered(STATUS)).toMatch(/^HTTP\/1\.1 403 /);
  const long = new Client(port);
  long.post("/open", 4 * MIB, Buffer.alloc(4 * MIB));
  expect(await long.answered(STATUS)).toMatch(/^HTTP\/1\.1 413 /);
  expect(seen).toEqual([5]);
});

test.each([
  ["beyond Latin-1", "größe→🙂", '299 - "unknown field \\"größe→🙂\\""'],
  ["with a line break", "a\nb", '299 - "unknown field \\"a\\\\nb\\""'],
])("an unknown field %s does not fail a request whose object was stored", async (_title, field, warning) => {
  const { port } = await serve();
  const answer = await fetch(`http://127.0.0.1:${port}${CONFIG_MAPS}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "c" }, [field]: 1 }),
  });
  expect(answer.status).toBe(201);
  expect(Buffer.from(answer.headers.get("warning")!, "latin1").toString()).toBe(warning);
});
