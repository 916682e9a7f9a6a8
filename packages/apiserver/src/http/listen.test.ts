import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";
import { SimulatedClock, realClock, seededRandom } from "@kubewright/clock";

import { certificates } from "../../test/certificates.js";
import { type ApiServer, createApiServer } from "../api-server.js";
import { listen } from "./listen.js";

const run = promisify(execFile);

async function served(): Promise<{ server: ApiServer; url: string; port: number }> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true });
  const { url, port } = await listen(server);
  onTestFinished(() => server.close());
  return { server, url, port };
}

const configMap = (name: string, data: object = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
const json = { "content-type": "application/json" };

test("the same server answers over HTTP, with lists whose items have no kind of their own", async () => {
  const { url } = await served();
  const created = await fetch(`${url}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: json,
    body: configMap("a", { key: "<&> ü" }),
  });
  expect(created.status).toBe(201);
  const list = (await (await fetch(`${url}/api/v1/namespaces/default/configmaps`)).json()) as {
    kind: string;
    items: object[];
  };
  expect(list.kind).toBe("ConfigMapList");
  expect(list.items).toEqual([{ metadata: expect.objectContaining({ name: "a" }) as unknown, data: { key: "<&> ü" } }]);
});

test("answers are dated by the server's clock, whatever the machine's says", async () => {
  const clock = new SimulatedClock("1999-12-31T23:59:59.900Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  onTestFinished(() => server.close());
  const { url } = await listen(server);
  const dateOf = async (path: string, init?: RequestInit): Promise<string | null> =>
    (await fetch(`${url}${path}`, init)).headers.get("date");
  expect(await dateOf("/api/v1/namespaces")).toBe("Fri, 31 Dec 1999 23:59:59 GMT");
  await clock.advance(100);
  expect(await dateOf("/api/v1/namespaces")).toBe("Sat, 01 Jan 2000 00:00:00 GMT");
  expect(await dateOf("/nowhere")).toBe("Sat, 01 Jan 2000 00:00:00 GMT");
  const stop = new AbortController();
  expect(await dateOf("/api/v1/configmaps?watch=1", { signal: stop.signal })).toBe("Sat, 01 Jan 2000 00:00:00 GMT");
  stop.abort();
});

test("a watch sends its headers before the first event, then one line per event", async () => {
  const { url, server } = await served();
  const stop = new AbortController();
  const response = await fetch(`${url}/api/v1/configmaps?watch=1&resourceVersion=${server.resourceVersion}`, {
    signal: stop.signal,
  });
  expect(response.headers.get("content-type")).toBe("application/json");
  await fetch(`${url}/api/v1/namespaces/default/configmaps`, { method: "POST", headers: json, body: configMap("a") });
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  expect(JSON.parse(new TextDecoder().decode(value))).toMatchObject({
    type: "ADDED",
    object: { kind: "ConfigMap", metadata: { name: "a" } },
  });
  stop.abort();
});

test("a body of more than 3 MiB is refused", async () => {
  const { url } = await served();
  const response = await fetch(`${url}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: json,
    body: configMap("a", { big: "x".repeat(3 * 1024 * 1024) }),
  });
  expect(response.status).toBe(413);
  expect(((await response.json()) as { message: string }).message).toBe("Request entity too large: limit is 3145728");
});

test("a port in use is an error that names host and port", async () => {
  const { server, port } = await served();
  await expect(listen(server, { port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the port is in use`);
});

test("kubectl creates, gets as a table, describes and deletes", async (context) => {
  const version = await run("kubectl", ["version", "--client"]).catch(() => undefined);
  if (version === undefined) {
    console.log("skipped: there is no kubectl on PATH");
    context.skip();
  }
  const { url } = await served();
  const home = await mkdtemp(join(tmpdir(), "kubewright-kubectl-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const kubectl = async (...args: string[]): Promise<string> =>
    (await run("kubectl", [`--server=${url}`, ...args], { env: { PATH: process.env["PATH"], HOME: home } })).stdout;
  expect(await kubectl("run", "p", "--image=busybox")).toBe("pod/p created\n");
  expect(await kubectl("get", "pods")).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\np +0\/1 +Pending +0 +\d+s\n$/);
  expect(await kubectl("label", "pod", "p", "a=b")).toBe("pod/p labeled\n");
  expect(await kubectl("describe", "pod", "p")).toContain("Image:        busybox");
  expect(await kubectl("delete", "pod", "p")).toContain('pod "p" deleted');
  expect(await kubectl("get", "pods", "-o", "name")).toBe("");
});

test("closing ends connections whose TLS handshake has not been made", async () => {
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const listener = await listen(server, {
    tls: { cert: certificates.serverCert, key: certificates.serverKey },
  });
  const socket = connect(listener.port, "127.0.0.1");
  await once(socket, "connect");
  // The server accepts this connection after the earlier ones.
  await fetch(`https://127.0.0.1:${listener.port}/version`).catch(() => undefined);
  const hungUp = once(socket, "close");
  await listener.close();
  await hungUp;
  expect(socket.destroyed).toBe(true);
});

test("what is longer than 128 KiB is compressed for clients that accept gzip, with no word about qualities, as upstream", async () => {
  const { url } = await served();
  const configMaps = `${url}/api/v1/namespaces/default/configmaps`;
  const create = (name: string, length: number): Promise<Response> =>
    fetch(configMaps, { method: "POST", headers: json, body: configMap(name, { key: "x".repeat(length) }) });
  await create("long", 200_000);
  await create("short", 10_000);
  const headersOf = async (path: string, encoding: string): Promise<(string | null)[]> => {
    const answer = await fetch(path, { headers: { "accept-encoding": encoding } });
    await answer.text();
    return ["content-encoding", "vary"].map((name) => answer.headers.get(name));
  };
  for (const path of [configMaps, `${configMaps}/long`])
    expect(await headersOf(path, "gzip")).toEqual(["gzip", "Accept-Encoding"]);
  expect(await headersOf(`${url}/openapi/v2`, "deflate, gzip")).toEqual(["gzip", "Accept, Accept-Encoding"]);
  expect(await headersOf(`${configMaps}/short`, "gzip")).toEqual([null, null]);
  expect(await headersOf(`${configMaps}?watch=1&timeoutSeconds=1`, "gzip")).toEqual([null, null]);
  for (const encoding of ["deflate", "gzip;q=0", "gzip;q=0.5"])
    expect(await headersOf(`${configMaps}/long`, encoding)).toEqual([null, null]);
});

test("a client that accepts only protobuf gets 406 with the media types; one that also accepts JSON gets JSON", async () => {
  const { url } = await served();
  const ask = (accept: string, query = ""): Promise<Response> =>
    fetch(`${url}/api/v1/namespaces/default/configmaps${query}`, { headers: { accept } });
  for (const query of ["", "?watch=1"]) {
    const refused = await ask("application/vnd.kubernetes.protobuf", query);
    expect(refused.status).toBe(406);
    const { reason, message } = (await refused.json()) as { reason: string; message: string };
    expect(reason).toBe("NotAcceptable");
    expect(message).toContain("application/json, application/yaml");
  }
  const both = await ask("application/vnd.kubernetes.protobuf,application/json");
  expect(both.headers.get("content-type")).toBe("application/json");
});
