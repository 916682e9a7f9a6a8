import { EventEmitter } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type RequestListener, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, type Server, connect as openConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";

import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { afterEach, expect, test, vi } from "vitest";

import { type HttpTransport, type HttpTransportOptions, createHttpTransport } from "./http-transport.js";

const cleanUps: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const pem = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

/** Starts a server with this handler. Returns its URL. */
async function serve(handler: RequestListener, tls?: object): Promise<string> {
  const server: Server & { closeAllConnections?(): void } =
    tls === undefined ? createServer(handler) : createTlsServer(tls, handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connect(options: HttpTransportOptions): HttpTransport["transport"] {
  const { transport, close } = createHttpTransport(options);
  cleanUps.push(close);
  return transport;
}

const GET: ApiRequest = { method: "GET", path: "/x", headers: {} };

async function text({ body }: ApiResponse): Promise<string> {
  if (body.type !== "bytes") throw new Error(`unexpected ${body.type} body`);
  let result = "";
  for await (const chunk of body.chunks) result += new TextDecoder().decode(chunk);
  return result;
}

function failure(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error as Error,
  );
}

async function scratchFile(name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kubewright-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers } = request;
    response.writeHead(201, { "content-type": "application/json", "x-two": ["a", "b"] });
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};

async function echoed(
  transport: HttpTransport["transport"],
  request: ApiRequest,
): Promise<{ method: string; url: string; headers: IncomingMessage["headers"]; body: string }> {
  return JSON.parse(await text(await transport(request)));
}

test("a request arrives with its method, path, headers and body, and the answer comes back", async () => {
  const transport = connect({ server: await serve(echo) });
  const request: ApiRequest = {
    method: "PATCH",
    path: "/api/v1/pods?x=%20y",
    headers: { "content-type": "application/merge-patch+json", accept: "application/json" },
    body: { type: "bytes", bytes: new TextEncoder().encode("{}") },
  };
  const response = await transport(request);
  expect(response.status).toBe(201);
  expect(response.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(await text(response))).toMatchObject({
    method: "PATCH",
    url: "/api/v1/pods?x=%20y",
    body: "{}",
    headers: { "content-type": "application/merge-patch+json", accept: "application/json", "content-length": "2" },
  });
});

test("a response has the number of request bytes sent", async () => {
  const transport = connect({ server: await serve(echo) });
  const sent = async (body?: ApiRequest["body"]) => {
    const response = await transport({
      method: "POST",
      path: "/",
      headers: {},
      ...(body === undefined ? {} : { body }),
    });
    await text(response);
    return response.sentBytes;
  };
  expect(await sent()).toBeUndefined();
  expect(await sent({ type: "decoded", value: { a: "ä" } })).toBe(10);
  expect(await sent({ type: "bytes", bytes: new Uint8Array(7) })).toBe(7);
});

test("a decoded body is written as JSON", async () => {
  const transport = connect({ server: await serve(echo) });
  const got = await echoed(transport, {
    ...GET,
    method: "POST",
    body: { type: "decoded", value: { name: "grün 🚀" } },
  });
  expect(JSON.parse(got.body)).toEqual({ name: "grün 🚀" });
  expect(got.headers["content-type"]).toBe("application/json");
});

test("a path in the server's URL is kept, and compression is not asked for", async () => {
  const transport = connect({ server: `${await serve(echo)}/k8s/clusters/c-1/` });
  const got = await echoed(transport, GET);
  expect(got.url).toBe("/k8s/clusters/c-1/x");
  expect(got.headers["accept-encoding"]).toBeUndefined();
});

test("a server without a scheme is http, unless TLS options are given", async () => {
  const url = new URL(await serve(echo));
  expect((await echoed(connect({ server: url.host }), GET)).url).toBe("/x");
  const error = await failure(connect({ server: url.host, insecureSkipTlsVerify: true })(GET));
  expect(error.message).toContain(`GET https://${url.host}/x: `);
});

test("what is not a URL is refused at once", () => {
  expect(() => createHttpTransport({ server: "ftp://x" })).toThrow('server "ftp://x" is not an http or https URL');
  expect(() => createHttpTransport({ server: "" })).toThrow('server "" is not an http or https URL');
});

test("an HTTP error status is an answer, not an error", async () => {
  const transport = connect({
    server: await serve((_, response) => response.writeHead(503, { "retry-after": "1" }).end("no")),
  });
  const response = await transport(GET);
  expect(response.status).toBe(503);
  expect(response.headers["retry-after"]).toBe("1");
  expect(await text(response)).toBe("no");
});

test("a server that is not there is an error that names it and says why, with the code", async () => {
  const error = await failure(connect({ server: "http://127.0.0.1:1" })({ ...GET, path: "/api?limit=1" }));
  expect(error.message).toBe("GET http://127.0.0.1:1/api: connect ECONNREFUSED 127.0.0.1:1");
  expect(error.code).toBe("ECONNREFUSED");
  expect((error.cause as { code?: string }).code).toBe("ECONNREFUSED");
});

test("a host with several addresses that all refuse is an error with a message", async () => {
  const error = await failure(connect({ server: "http://localhost:1" })(GET));
  expect(error.message).toContain("connect ECONNREFUSED");
  expect(error.code).toBe("ECONNREFUSED");
});

test("a connection cut before the answer, and one cut within it, are errors", async () => {
  const before = connect({ server: await serve((request) => request.socket.destroy()) });
  expect((await failure(before(GET))).code).toMatch(/^(UND_ERR_SOCKET|ECONNRESET)$/);

  const within = connect({
    server: await serve((request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc", () => request.socket.destroy());
    }),
  });
  const error = await failure(within(GET).then(text));
  expect(error.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/x: /);
  expect(error.code).toMatch(/^(UND_ERR_SOCKET|ECONNRESET)$/);
});

test("aborting rejects with the signal's reason: before, while waiting, and while reading an answer", async () => {
  const asked = Promise.withResolvers<void>();
  const transport = connect({
    server: await serve((request, response) => {
      if (request.url === "/half") response.writeHead(200, { "content-length": "10" }).write("abc");
      else asked.resolve();
    }),
  });
  const reason = new Error("enough");
  expect(await failure(transport({ ...GET, signal: AbortSignal.abort(reason) }))).toBe(reason);

  const waiting = new AbortController();
  const pending = failure(transport({ ...GET, signal: waiting.signal }));
  await asked.promise;
  waiting.abort(reason);
  expect(await pending).toBe(reason);

  const reading = new AbortController();
  const response = await transport({ ...GET, path: "/half", signal: reading.signal });
  const half = failure(text(response));
  reading.abort(reason);
  expect(await half).toBe(reason);
});

test("a watch's chunks arrive one by one, and its stream ends quietly when it is aborted", async () => {
  let closed = false;
  const seen = Promise.withResolvers<void>();
  const transport = connect({
    server: await serve((_, response) => {
      response.on("close", () => (closed = true));
      response.writeHead(200).write("one\n");
      // Sent earlier, it might arrive in the same chunk as the first line.
      void seen.promise.then(() => response.write("two\n"));
    }),
  });
  const abort = new AbortController();
  const response = await transport({ ...GET, path: "/x?watch=true", signal: abort.signal });
  const chunks: string[] = [];
  if (response.body.type !== "bytes") throw new Error("not bytes");
  for await (const chunk of response.body.chunks) {
    chunks.push(new TextDecoder().decode(chunk));
    seen.resolve();
    if (chunks.length === 2) abort.abort();
  }
  expect(chunks).toEqual(["one\n", "two\n"]);
  await expect.poll(() => closed).toBe(true);
});

test("information sent before an answer is not the answer", async () => {
  const transport = connect({
    server: await serve((_, response) => {
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.end("the answer");
    }),
  });
  const response = await transport(GET);
  expect(response.status).toBe(200);
  expect(await text(response)).toBe("the answer");
});

test("a body of which more comes than may wait for its reader arrives whole", async () => {
  const transport = connect({
    server: await serve((request, response) => void response.end(request.url === "/x" ? Buffer.alloc(2 ** 23) : "")),
  });
  const { body } = await transport(GET);
  // Meanwhile the body is not read.
  for (let turn = 0; turn < 10; turn++) await text(await transport({ ...GET, path: "/other" }));
  let bytes = 0;
  if (body.type === "bytes") for await (const chunk of body.chunks) bytes += chunk.length;
  expect(bytes).toBe(2 ** 23);
});

test("a reader that stops early closes the stream", async () => {
  let closed = false;
  const transport = connect({
    server: await serve((_, response) => {
      response.on("close", () => (closed = true));
      response.writeHead(200).write("one\n");
    }),
  });
  const { body } = await transport({ ...GET, path: "/x?watch=1" });
  if (body.type !== "bytes") throw new Error("not bytes");
  for await (const _chunk of body.chunks) break;
  await expect.poll(() => closed).toBe(true);
});

test("however many watches are open, other requests get through", async () => {
  const transport = connect({
    server: await serve((request, response) => {
      if (request.url!.includes("watch=true")) response.writeHead(200).flushHeaders();
      else response.end("ok");
    }),
  });
  const abort = new AbortController();
  const watches = await Promise.all(
    Array.from({ length: 100 }, () => transport({ ...GET, path: "/x?watch=true", signal: abort.signal })),
  );
  expect(await text(await transport(GET))).toBe("ok");
  const ended = watches.map(text);
  abort.abort();
  expect(await Promise.all(ended)).toEqual(Array(100).fill(""));
});

test("an answer that does not begin in time is an error; a log that is followed may begin whenever it likes", async () => {
  const silent = new EventEmitter();
  const server = await serve((request, response) => {
    if (request.url!.includes("follow")) silent.once("over", () => response.end("at last"));
  });
  const transport = connect({ server, responseTimeoutMs: 50 });
  const log = transport({ ...GET, path: "/log?follow=true" });
  for (const request of [GET, { ...GET, path: "/x?watch=true" }, { ...GET, method: "POST" as const }])
    expect((await failure(transport(request))).code).toBe("UND_ERR_HEADERS_TIMEOUT");
  silent.emit("over");
  expect(await text(await log)).toBe("at last");
});

/**
 * Returns the milliseconds until the kernel's first keep-alive probe, for each connection of this machine to a port.
 */
function probes(port: string): number[] {
  const hexPort = Number(port).toString(16).toUpperCase().padStart(4, "0");
  return ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote, state]) => remote?.endsWith(`:${hexPort}`) && state === "01")
    .map((fields) => {
      const [timer, ticks] = fields[5]!.split(":");
      // Timer 2 is keep-alive; a tick is 10 ms.
      return timer === "02" ? Number.parseInt(ticks!, 16) * 10 : Infinity;
    });
}

test.skipIf(process.platform !== "linux")(
  "watches are probed by TCP keep-alive, over TLS and tunnels too",
  async () => {
    const handler: RequestListener = (_, response) => response.writeHead(200).flushHeaders();
    const plain = await serve(handler);
    const tls = await serve(handler, { key: pem("server.key"), cert: pem("server.crt") });
    const tunnel = createServer();
    tunnel.on("connect", (request, socket) => {
      const upstream = openConnection({ host: "127.0.0.1", port: Number(new URL(tls).port) });
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
      for (const end of [socket, upstream]) end.on("error", () => {});
      cleanUps.push(
        () => void socket.destroy(),
        () => void upstream.destroy(),
      );
    });
    await new Promise<void>((resolve) => tunnel.listen(0, "127.0.0.1", resolve));
    cleanUps.push(() => void tunnel.close());
    const proxyUrl = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`;

    const ca = pem("ca.crt");
    const watch: ApiRequest = { ...GET, path: "/x?watch=true" };
    for (const [options, dialed] of [
      [{ server: plain }, plain],
      [{ server: tls, ca }, tls],
      [{ server: tls, ca, proxyUrl, serverName: "kubernetes.default" }, proxyUrl],
    ] as const) {
      const { status } = await connect(options)(watch);
      expect({ dialed, status }).toEqual({ dialed, status: 200 });
      // A retransmission timer may run first.
      await expect
        .poll(() => probes(new URL(dialed).port))
        .toSatisfy((waits: number[]) => waits.length > 0 && waits.every((wait) => wait <= 30_000));
    }
  },
);

test("what waits for a connection is asked about when it gets one, and kept back if it may not go any more", async () => {
  const served: string[] = [];
  const waiting: (() => void)[] = [];
  const url = await serve((request, response) => {
    served.push(request.url!);
    waiting.push(() => response.end("done"));
  });
  const transport = connect({ server: url });
  const asked: string[] = [];
  let mayGo = true;
  const send = (path: string): Promise<ApiResponse> =>
    transport({
      ...GET,
      method: "POST",
      path,
      beforeSend: () => {
        asked.push(path);
        if (!mayGo) throw new Error("not any more");
      },
    });
  // One request per connection. Later requests wait for the first response.
  const first = Array.from({ length: 64 }, (_, index) => send(`/${index}`));
  await vi.waitFor(() => expect(served).toHaveLength(64), { timeout: 60_000 });
  const late = failure(send("/late"));
  expect(asked).not.toContain("/late");
  mayGo = false;
  for (const answer of waiting) answer();
  for (const answer of await Promise.all(first)) expect(await text(answer)).toBe("done");
  expect(String(await late)).toBe("Error: not any more");
  expect(asked).toContain("/late");
  expect(served).not.toContain("/late");
  mayGo = true;
  const after = send("/after");
  await vi.waitFor(() => expect(served).toContain("/after"), { timeout: 60_000 });
  waiting.at(-1)!();
  expect(await text(await after)).toBe("done");
});

test("connections are used again", async () => {
  const ports = new Set<number>();
  const transport = connect({
    server: await serve((request, response) => {
      ports.add(request.socket.remotePort!);
      response.end("ok");
    }),
  });
  for (let index = 0; index < 20; index++) await text(await transport(GET));
  expect(ports.size).toBeLessThanOrEqual(2);
});

test("closing ends what is under way", async () => {
  let waiting = 0;
  const asked = Promise.withResolvers<void>();
  const server = await serve((_, response) => {
    response.writeHead(200).flushHeaders();
    if (++waiting === 2) asked.resolve();
  });
  const { transport, close } = createHttpTransport({ server });
  const watch = failure(transport({ ...GET, path: "/x?watch=true" }).then(text));
  const request = failure(transport(GET).then(text));
  await asked.promise;
  await close();
  expect([(await watch).name, (await request).name]).toEqual(["ConnectionError", "ConnectionError"]);
});

test("TLS: the CA, the client certificate and the name asked for are used", async () => {
  const seen: { cn: unknown; sni: unknown }[] = [];
  const server = await serve(
    (request, response) => {
      const socket = request.socket as TLSSocket;
      seen.push({ cn: socket.getPeerCertificate().subject?.CN, sni: socket.servername });
      response.end("ok");
    },
    {
      key: pem("server.key"),
      cert: pem("server.crt"),
      ca: pem("ca.crt"),
      requestCert: true,
      rejectUnauthorized: false,
    },
  );
  const ca = pem("ca.crt");
  const client = { cert: pem("client.crt"), key: pem("client.key") };

  expect((await failure(connect({ server })(GET))).code).toBe("SELF_SIGNED_CERT_IN_CHAIN");
  expect((await failure(connect({ server, ca, serverName: "other.example" })(GET))).code).toBe(
    "ERR_TLS_CERT_ALTNAME_INVALID",
  );
  expect(seen).toEqual([]);
  expect(await text(await connect({ server, insecureSkipTlsVerify: true })(GET))).toBe("ok");
  expect(await text(await connect({ server, ca, ...client, serverName: "kubernetes.default" })(GET))).toBe("ok");
  expect(await text(await connect({ server, ca, ...client })({ ...GET, path: "/x?watch=true" }))).toBe("ok");
  expect(seen).toEqual([
    { cn: undefined, sni: false },
    { cn: "admin", sni: "kubernetes.default" },
    { cn: "admin", sni: false },
  ]);
});

test("tokens and basic authentication become an Authorization header, unless the request has one", async () => {
  const server = await serve(echo);
  const authorization = async (
    options: Omit<HttpTransportOptions, "server">,
    headers = {},
  ): Promise<string | undefined> =>
    (await echoed(connect({ server, ...options }), { ...GET, headers })).headers.authorization;
  expect(await authorization({})).toBeUndefined();
  expect(await authorization({ token: "t" })).toBe("Bearer t");
  expect(await authorization({ token: "t" }, { authorization: "Bearer mine" })).toBe("Bearer mine");
  expect(await authorization({ username: "jo", password: "pä:ss" })).toBe(
    `Basic ${Buffer.from("jo:pä:ss").toString("base64")}`,
  );
  expect(() => createHttpTransport({ server, token: "t", username: "jo" })).toThrow(
    "username/password or bearer token may be set, but not both",
  );
});

test("impersonation becomes headers", async () => {
  const impersonate = { user: "jo", groups: ["a", "b"], uid: "7", extra: { "example.com/Scope": ["x"] } };
  const { headers } = await echoed(connect({ server: await serve(echo), impersonate }), GET);
  expect(headers).toMatchObject({
    "impersonate-user": "jo",
    "impersonate-group": "a, b",
    "impersonate-uid": "7",
    "impersonate-extra-example.com%2fscope": "x",
  });
});

test("impersonation headers arrive unchanged in any script, and an empty user is refused", async () => {
  const server = await serve((request, response) => response.end(JSON.stringify(request.headers)));
  const impersonate = { user: "jörg 🚀", groups: ["größe"], extra: { "a(b)%c/ü": ["€"] } };
  const headers = JSON.parse(await text(await connect({ server, impersonate })(GET))) as Record<string, string>;
  const utf8 = (value = ""): string => Buffer.from(value, "latin1").toString();
  expect(utf8(headers["impersonate-user"])).toBe("jörg 🚀");
  expect(utf8(headers["impersonate-group"])).toBe("größe");
  expect(utf8(headers["impersonate-extra-a%28b%29%25c%2f%c3%bc"])).toBe("€");
  expect(() => createHttpTransport({ server, impersonate: { user: "", groups: ["system:masters"] } })).toThrow(
    "requesting uid, groups or user-extra without impersonating a user",
  );
});

test.each<[Omit<HttpTransportOptions, "server">, string]>([
  [
    { ca: pem("ca.crt"), insecureSkipTlsVerify: true },
    "specifying a root certificates file with the insecure flag is not allowed",
  ],
  [{ ca: "" }, "unable to load root certificates: no valid certificate authority data seen"],
  [{ ca: "nonsense" }, "unable to load root certificates: unable to parse bytes as PEM block"],
  [
    { ca: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
    "unable to load root certificates: failed to parse certificate: it is not X.509",
  ],
  [{ cert: pem("client.crt") }, "a client certificate needs its private key"],
  [{ cert: pem("client.crt"), key: pem("server.key") }, "tls: private key does not match public key"],
  [{ cert: "nonsense", key: pem("client.key") }, "the client certificate or its private key is not PEM: "],
])("TLS options that Node would pass over are refused at once: %#", (options, message) => {
  expect(() => createHttpTransport({ server: "https://127.0.0.1:1", ...options })).toThrow(message);
});

test("authorities that cannot be understood do not spoil those that can", async () => {
  const server = await serve((_, response) => response.end("ok"), { key: pem("server.key"), cert: pem("server.crt") });
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  expect(await text(await connect({ server, ca: `# ours\n${broken}${pem("ca.crt")}` })(GET))).toBe("ok");
});

test("a token file is read again when it is a minute old; an empty or missing one leaves the last token", async () => {
  const tokenFile = await scratchFile("token", " first\n");
  const clock = new SimulatedClock();
  const transport = connect({ server: await serve(echo), tokenFile, clock });
  const authorization = async (): Promise<string | undefined> => (await echoed(transport, GET)).headers.authorization;

  expect(await authorization()).toBe("Bearer first");
  await writeFile(tokenFile, "second");
  await clock.advance(49_000);
  expect(await authorization()).toBe("Bearer first");
  await clock.advance(2_000);
  expect(await authorization()).toBe("Bearer second");
  await writeFile(tokenFile, "");
  await clock.advance(60_000);
  expect(await authorization()).toBe("Bearer second");
  await rm(tokenFile);
  expect(await authorization()).toBe("Bearer second");
  await writeFile(tokenFile, "third");
  expect(await authorization()).toBe("Bearer third");
});

test("a token file that never was there fails the request", async () => {
  const error = await failure(connect({ server: await serve(echo), tokenFile: "/no/such/token" })(GET));
  expect(error.message).toContain('failed to read token file "/no/such/token": ENOENT');
});

test("a credential plugin runs once for many requests, and again after a 401", async () => {
  const log = await scratchFile("log", "");
  const script = `
    const { appendFileSync, readFileSync } = require("node:fs");
    appendFileSync(${JSON.stringify(log)}, "x");
    const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    const token = process.env.WHO + readFileSync(${JSON.stringify(log)}).length + info.spec.interactive;
    console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: "ExecCredential", status: { token } }));`;
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: ["-e", script],
    env: [{ name: "WHO", value: "me" }],
  };
  const refused = "Bearer me1false";
  let refuse = false;
  const server = await serve((request, response) => {
    response.statusCode = refuse && request.headers.authorization === refused ? 401 : 200;
    response.end(request.headers.authorization);
  });
  const transport = connect({ server, exec });
  expect(await Promise.all(Array.from({ length: 20 }, async () => text(await transport(GET))))).toEqual(
    Array(20).fill(refused),
  );
  refuse = true;
  expect((await transport(GET)).status).toBe(401);
  const next = await transport(GET);
  expect([next.status, await text(next)]).toEqual([200, "Bearer me2false"]);
});

test("a credential that has expired costs one run of the plugin, however many requests need it", async () => {
  const log = await scratchFile("log", "");
  const script = `
    const { appendFileSync, readFileSync } = require("node:fs");
    appendFileSync(${JSON.stringify(log)}, "x");
    const runs = readFileSync(${JSON.stringify(log)}).length;
    const expirationTimestamp = runs === 1 ? "2000-01-01T00:00:00Z" : "2999-01-01T00:00:00Z";
    const status = { token: "token-" + runs, expirationTimestamp };
    console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status }));`;
  const server = await serve((request, response) => response.end(request.headers.authorization));
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: ["-e", script] };
  const transport = connect({ server, exec });
  const twenty = () => Promise.all(Array.from({ length: 20 }, async () => text(await transport(GET))));
  expect(await twenty()).toEqual(Array(20).fill("Bearer token-1"));
  expect(await twenty()).toEqual(Array(20).fill("Bearer token-2"));
  expect(await twenty()).toEqual(Array(20).fill("Bearer token-2"));
});

test.each([
  ["/no/such/plugin", [], "getting credentials: exec: executable /no/such/plugin not found"],
  [
    process.execPath,
    ["-e", "console.error('log in first'); process.exit(1)"],
    `getting credentials: exec: executable ${process.execPath} failed with exit code 1: log in first`,
  ],
  [process.execPath, ["-e", "console.log('{}')"], "getting credentials: decoding stdout: Object 'Kind' is missing"],
])("a credential plugin that fails is named: %s %j", async (command, args, message) => {
  const transport = connect({
    server: "http://127.0.0.1:1",
    exec: { apiVersion: "client.authentication.k8s.io/v1", command, args },
  });
  expect((await failure(transport(GET))).message).toBe(message);
});

test("requests go through a proxy when one is given", async () => {
  const proxyUrl = await serve((request, response) => response.end(`proxied ${request.url}`));
  expect(await text(await connect({ server: "http://kubernetes.invalid", proxyUrl })(GET))).toBe(
    "proxied http://kubernetes.invalid/x",
  );
});

test("a token that is refused is read again at once", async () => {
  const tokenFile = await scratchFile("token", "old");
  const server = await serve((request, response) => {
    response.statusCode = request.headers.authorization === "Bearer new" ? 200 : 401;
    response.end();
  });
  const transport = connect({ server, tokenFile, clock: new SimulatedClock() });
  expect((await transport(GET)).status).toBe(401);
  await writeFile(tokenFile, "new");
  expect((await transport(GET)).status).toBe(200);
});

test("a client certificate's files are read again after a minute or a 401; halves of two pairs leave the last good one", async () => {
  const seen = (request: IncomingMessage): string =>
    String((request.socket as TLSSocket).getPeerCertificate().subject?.CN);
  let refused = "nobody";
  const server = await serve(
    (request, response) => {
      response.statusCode = seen(request) === refused ? 401 : 200;
      response.end(seen(request));
    },
    { key: pem("server.key"), cert: pem("server.crt"), requestCert: true, rejectUnauthorized: false },
  );
  const certFile = await scratchFile("client.crt", pem("client.crt"));
  const keyFile = await scratchFile("client.key", pem("client.key"));
  const clock = new SimulatedClock();
  const transport = connect({
    server,
    ca: pem("ca.crt"),
    cert: pem("client.crt"),
    key: pem("client.key"),
    certFile,
    keyFile,
    clock,
  });
  const who = async (): Promise<string> => text(await transport(GET));
  const replaceBy = async (name: string): Promise<void> => {
    await writeFile(certFile, pem(`${name}.crt`));
    await writeFile(keyFile, pem(`${name}.key`));
  };

  expect(await who()).toBe("admin");
  await replaceBy("server");
  expect(await who()).toBe("admin");
  await clock.advance(61_000);
  const other = await who();
  expect(other).not.toBe("admin");

  await writeFile(certFile, pem("client.crt"));
  await clock.advance(61_000);
  expect(await who()).toBe(other);
  await rm(certFile);
  await clock.advance(61_000);
  expect(await who()).toBe(other);

  await replaceBy("client");
  await clock.advance(61_000);
  expect(await who()).toBe("admin");
  refused = "admin";
  await replaceBy("server");
  expect((await transport(GET)).status).toBe(401);
  expect(await who()).toBe(other);
});
