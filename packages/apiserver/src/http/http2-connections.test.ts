import { execFile } from "node:child_process";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

import { describe, expect, onTestFinished, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";

import { certificates } from "../../test/certificates.js";
import type { ApiServerOptions } from "../api-server-options.js";
import { type ApiServer, createApiServer } from "../api-server.js";
import { type ListenOptions, listen } from "./listen.js";

const tls = { cert: certificates.serverCert, key: certificates.serverKey, clientCA: certificates.ca };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const run = promisify(execFile);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

async function served(
  options: Partial<ApiServerOptions> = {},
  on: ListenOptions = {},
): Promise<{ server: ApiServer; url: string; open: (client?: object) => ClientHttp2Session }> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, ...options });
  onTestFinished(() => server.close());
  const { url } = await listen(server, { tls, ...on });
  const open = (client: object = {}): ClientHttp2Session => {
    const session = connect(url, { ca: certificates.ca, ...client });
    session.on("error", () => {});
    onTestFinished(() => session.destroy());
    return session;
  };
  return { server, url, open };
}

function send(session: ClientHttp2Session, headers: Record<string, string>, body?: string): Promise<Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}

function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let head: Record<string, unknown> = {};
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => (head = headers));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    const end = (): void => {
      const bytes = Buffer.concat(chunks);
      const text = (head["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
      resolve({ status: Number(head[":status"]), headers: head, text });
    };
    // A stream with pending data does not close on request.
    stream.once("end", end).once("close", end);
  });
}

const configMap = (name: string, length = 1): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { key: "x".repeat(length) } });
const post = { ":method": "POST", ":path": CONFIG_MAPS, "content-type": "application/json" };

describe("HTTP/2 over TLS", () => {
  test("one connection creates, reads, lists compressed, and watches, side by side", async () => {
    const { open } = await served();
    const session = open();
    const watch = session.request({ ":path": `${CONFIG_MAPS}?watch=1` });
    const events = answerOf(watch);
    const seen = new Promise<void>((resolve) => watch.on("data", () => resolve()));
    expect((await send(session, post, configMap("a"))).status).toBe(201);
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(session, post, configMap(`b${index}`, 20_000))));
    expect((await send(session, { ":path": `${CONFIG_MAPS}/a` })).text).toContain('"name":"a"');
    const list = await send(session, { ":path": CONFIG_MAPS, "accept-encoding": "gzip" });
    expect(list.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    expect((JSON.parse(list.text) as { items: object[] }).items).toHaveLength(21);
    await seen;
    watch.close();
    expect((await events).text).toContain('{"type":"ADDED"');
    expect((await send(session, { ":path": "/healthz", ":method": "HEAD" })).text).toBe("");
  });

  test("a client that does not ask for it gets HTTP/1.1", async () => {
    const { url } = await served();
    const { request } = await import("node:https");
    const version = await new Promise<string>((resolve, reject) => {
      request(`${url}/version`, { ca: certificates.ca, agent: false }, (response) => {
        response.resume();
        resolve(response.httpVersion);
      })
        .on("error", reject)
        .end();
    });
    expect(version).toBe("1.1");
  });

  test("who shows nothing is kept to the server's own names and pages, as over HTTP/1.1", async () => {
    const { open } = await served();
    const session = open();
    expect((await send(session, { ":path": CONFIG_MAPS })).status).toBe(200);
    const rebound = await send(session, { ":path": CONFIG_MAPS, ":authority": "evil.example" });
    expect(rebound.status).toBe(403);
    expect(rebound.text).toContain('the host \\"evil.example\\"');
    expect((await send(session, { ":path": CONFIG_MAPS, host: "evil.example" })).status).toBe(403);
    expect((await send(session, { ":path": CONFIG_MAPS, origin: "https://evil.example" })).status).toBe(403);
    expect((await send(session, { ":path": CONFIG_MAPS, "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("a client is who its certificate says", async () => {
    const { open } = await served({ authentication: {}, authorization: "AlwaysAllow" });
    const whoAmI = {
      ":method": "POST",
      ":path": "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      "content-type": "application/json",
    };
    const body = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}';
    const known = await send(open({ cert: certificates.clientCert, key: certificates.clientKey }), whoAmI, body);
    expect(known.text).toContain('"username":"dev"');
    const stranger = open({ cert: certificates.strangerCert, key: certificates.strangerKey });
    expect((await send(stranger, whoAmI, body)).status).toBe(401);
    expect((await send(open(), whoAmI, body)).text).toContain('"username":"system:anonymous"');
  });

  test("bodies are as long as they may be, and no longer, with or without their length", async () => {
    const { open } = await served();
    const session = open();
    const large = configMap("large", 1_000_000);
    expect((await send(session, post, large)).status).toBe(201);
    const huge = configMap("huge", 4_000_000);
    for (const length of [{}, { "content-length": String(huge.length) }])
      expect((await send(session, { ...post, ...length }, huge)).status).toBe(413);
    expect((await send(session, { ":path": "/healthz" })).text).toBe("ok");
  });

  test("a body that does not come is waited for no longer than any request may take", async () => {
    const { open } = await served({}, { requestTimeoutMs: 200 });
    const stream = open().request(post, { endStream: false });
    stream.write('{"apiVersion":');
    expect((await answerOf(stream)).status).toBe(504);
  });

  test("who is answered before it has sent its body may send it, within limits", async () => {
    const { open } = await served();
    const session = open();
    const nowhere = { ":method": "DELETE", ":path": "/apis/example.com/v1/namespaces/default/things/a" };
    const answered = async (): Promise<ClientHttp2Stream> => {
      const stream = session.request(nowhere, { endStream: false });
      expect((await answerOf(stream)).status).toBe(404);
      await new Promise((resolve) => session.ping(resolve));
      expect(stream.closed).toBe(false);
      return stream;
    };
    const short = await answered();
    short.end("{}");
    await once(short, "close");
    const long = await answered();
    const closed = once(long, "close");
    long.on("error", () => {}).write("x".repeat(300_000));
    await closed;
  });

  test("no connection has more than 100 requests under way", async () => {
    const { open } = await served();
    const session = open();
    await send(session, { ":path": "/healthz" });
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  });

  test("headers may be nearly 64 KiB, and no more", async () => {
    const { open } = await served();
    const withHeader = (length: number): Promise<number | string> =>
      send(open({ maxSendHeaderBlockLength: 1 << 22 }), { ":path": "/healthz", "x-long": "x".repeat(length) }).then(
        ({ status }) => status,
        ({ code }: NodeJS.ErrnoException) => code ?? "",
      );
    expect(await withHeader(60_000)).toBe(200);
    expect([await withHeader(80_000)]).not.toContain(200);
  });

  test("closing the server ends connections that watch", async () => {
    const { server, open } = await served();
    const session = open();
    const stream = session.request({ ":path": `${CONFIG_MAPS}?watch=1` });
    await new Promise((resolve) => stream.once("response", resolve));
    const closed = new Promise((resolve) => session.once("close", resolve));
    stream.on("error", () => {});
    await server.close();
    await closed;
    expect(stream.rstCode).not.toBe(constants.NGHTTP2_PROTOCOL_ERROR);
  });

  test("kubectl uses it", async ({ skip }) => {
    const found = await run("kubectl", ["version", "--client"]).catch(() => undefined);
    if (found === undefined) skip("there is no kubectl on PATH");
    const { url } = await served();
    const home = await mkdtemp(join(tmpdir(), "kubewright-http2-"));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    // Without a certificate kubectl asks for a user name.
    const files = { "ca.crt": certificates.ca, "tls.crt": certificates.clientCert, "tls.key": certificates.clientKey };
    for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
    const access = ["--certificate-authority=ca.crt", "--client-certificate=tls.crt", "--client-key=tls.key"];
    const kubectl = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
      run("kubectl", [`--server=${url}`, ...access, ...args], {
        cwd: home,
        env: { PATH: process.env["PATH"], HOME: home, GODEBUG: "http2debug=1" },
      });
    const { stderr } = await kubectl("create", "configmap", "c", "--from-literal=a=b");
    expect(stderr).toContain("http2: Transport");
    await writeFile(join(home, "thing.json"), "{}");
    const nowhere = kubectl("create", "--raw", "/apis/example.com/v1/namespaces/default/things", "-f", "thing.json");
    await expect(nowhere).rejects.toThrow("the server could not find the requested resource");
    const watched = await kubectl("get", "configmaps", "--watch", "--request-timeout=2s").catch(
      (error: { stdout: string }) => error,
    );
    expect(watched.stdout).toContain("c      1");
    expect((await kubectl("get", "configmaps", "c", "-o", "jsonpath={.data.a}")).stdout).toBe("b");
    await kubectl("wait", "configmap/c", "--for=jsonpath={.data.a}=b", "--timeout=60s");
    await kubectl("delete", "configmap", "c");
  });
});
