import { Agent } from "node:https";
import { type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";

import { configMaps } from "@kubewright/api";
import { realClock } from "@kubewright/clock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { freePort } from "../../../conformance/free-port.ts";
import { type Certificate, chain, makeAuthority, sign } from "../../../packages/serving/test/certificates.js";
import { findRuntime } from "../../../tooling/find-runtime.ts";
import { DELEGATION, MONITORING, startRbacCluster } from "./rbac-cluster.js";
import { sendRequest } from "./https-client.js";
import { startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";

/** A number of connections that once blocked all other clients, plus a few. */
const CROWD = 1_005;
const HALF = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1";
const WHOLE = `${HALF}\r\n\r\n`;
/** Shorter than the idle timeout, which would also close connections. */
const SOON_MS = 9_000;

interface Victim {
  readonly port: number;
  /** The authority whose certificates identify users. */
  readonly clients: Certificate;
  /** The authority whose certificates identify front proxies, with any name. */
  readonly proxies: Certificate;
}

const node22 = findRuntime("node-22");
const nodes = [
  { name: `Node ${process.versions.node}`, node: process.execPath },
  ...("path" in node22 ? [{ name: "Node 22", node: node22.path }] : []),
];
if ("missing" in node22) console.log(`skipped: attacks on Node 22, which cannot be installed here: ${node22.missing}`);

describe.each(nodes)("the built controller manager on $name, attacked:", ({ node }) => {
  const ends: (() => unknown)[] = [];
  const scope: Scope = { onTestFinished: (end) => void ends.push(end as () => unknown) };
  let victim: Victim;
  beforeAll(async () => {
    victim = await startVictim(scope, node);
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("a forged link between two authorities makes a user no front proxy", async () => {
    const { port, clients, proxies } = victim;
    const jane = await sign(clients, "jane");
    // Has the name of `clients` and the issuer `proxies`, but the signature of another key.
    const forged = await makeAuthority("clients", { issuer: await makeAuthority("proxies") });
    const root = { headers: { "x-remote-user": "root", "x-remote-group": "system:masters" } };
    for (const shown of [
      jane,
      chain(jane, proxies),
      chain(jane, forged),
      chain(jane, forged, proxies),
      chain(jane, proxies, forged),
      chain(jane, clients, proxies),
    ]) {
      const answer = await sendRequest(port, "/metrics", { ...shown, ...root });
      expect([answer.status, messageOf(answer.body)]).toEqual([
        403,
        'forbidden: User "jane" cannot get path "/metrics"',
      ]);
    }
    const impostor = await sign(await makeAuthority("proxies"), "front-proxy-client");
    const janes = await sign(jane, "front-proxy-client");
    for (const shown of [impostor, chain(impostor, proxies), janes, chain(janes, jane), chain(janes, jane, proxies)])
      expect((await sendRequest(port, "/metrics", { ...shown, ...root })).status).toBe(401);
  });

  test("who has no front proxy's certificate is not believed to be one", async () => {
    const { port, clients, proxies } = victim;
    const asProxy = { headers: { "x-remote-user": "prometheus", "x-remote-group": ["system:masters"] } };
    expect((await sendRequest(port, "/metrics", asProxy)).status).toBe(403);
    expect((await sendRequest(port, "/metrics", { ...asProxy, ...(await sign(clients, "jane")) })).status).toBe(403);
    const server = await sign(proxies, "front-proxy-client", undefined, { usage: "servers" });
    expect((await sendRequest(port, "/metrics", { ...asProxy, ...server })).status).toBe(401);
    const proxy = await sign(proxies, "front-proxy-client");
    expect((await sendRequest(port, "/metrics", { ...asProxy, ...proxy })).status).toBe(200);
    // The proxy names no user in its headers, and is no user itself.
    expect((await sendRequest(port, "/metrics", proxy)).status).toBe(401);
  });

  test("who is vouched for through another authority is known all the same", async () => {
    const { port, clients, proxies } = victim;
    const [department, frontDoor] = [
      await makeAuthority("department", { issuer: clients }),
      await makeAuthority("front door", { issuer: proxies }),
    ];
    const prometheus = await sign(department, "prometheus");
    expect((await sendRequest(port, "/metrics", chain(prometheus, department))).status).toBe(200);
    expect((await sendRequest(port, "/metrics", prometheus)).status).toBe(401);
    const proxy = chain(await sign(frontDoor, "front-proxy-client"), frontDoor);
    expect((await sendRequest(port, "/metrics", { ...proxy, headers: { "x-remote-user": "prometheus" } })).status).toBe(
      200,
    );
    expect((await sendRequest(port, "/metrics", { ...proxy, headers: { "x-remote-user": "jane" } })).status).toBe(403);
  });

  test("a certificate that expires is refused on the connection it opened, too", async () => {
    const { port, clients } = victim;
    const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_000);
    const brief = await sign(clients, "prometheus", undefined, { validity: { notBefore: "2020-01-01", notAfter } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const scrape = async (): Promise<number> => {
      const answer = await sendRequest(port, "/metrics", { ...brief, agent });
      ports.add(answer.localPort);
      return answer.status;
    };
    expect(await scrape()).toBe(200);
    await realClock.sleep(notAfter.getTime() + 1_000 - Date.now());
    expect(await scrape()).toBe(401);
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  test("a client that speaks only CBC, or only what is older than TLS 1.2, gets no connection", async () => {
    const { port } = victim;
    const old = { maxVersion: "TLSv1.2" } as const;
    for (const ciphers of ["ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-SHA256", "HIGH+CBC"])
      await expect(sendRequest(port, "/healthz", { ...old, ciphers })).rejects.toThrow(/handshake|no cipher/i);
    const older = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
    await expect(sendRequest(port, "/healthz", older)).rejects.toThrow(/protocol|alert|handshake/i);
    expect((await sendRequest(port, "/healthz", { ...old, ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" })).status).toBe(
      200,
    );
  });

  test.for([
    { what: "that send nothing", texts: undefined },
    { what: "over TLS that send nothing, half a header, or a request and then nothing", texts: ["", HALF, WHOLE] },
  ])(`${CROWD} connections $what keep no health check out`, async ({ texts }, flood) => {
    const { port } = victim;
    const sockets: Socket[] = [];
    flood.onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    const open = (count: number): Promise<Socket> =>
      texts === undefined ? openPlain(port) : openTls(port, texts[count % texts.length]!);
    while (sockets.length < CROWD)
      sockets.push(...(await Promise.all(Array.from({ length: 67 }, (_, count) => open(count)))));
    expect(sockets).toHaveLength(CROWD);
    for (let check = 0; check < 5; check++)
      expect((await sendRequest(port, "/healthz", { signal: AbortSignal.timeout(SOON_MS) })).status).toBe(200);
  });

  test("no way of writing a path leads past the paths that are always allowed", async () => {
    const { port } = victim;
    for (const path of [
      "/metrics",
      "//metrics",
      "/./metrics",
      "/%6detrics",
      "/metrics/",
      "/metrics%2f..",
      "/metrics?/healthz",
      "/metrics;/healthz",
      "/metrics%3f/healthz",
      "/metrics#/healthz",
      "/healthz/../metrics",
      "/healthz/..%2fmetrics",
      "/healthz/%2e%2e/metrics",
      "/healthz%2f..%2fmetrics",
      "/healthz/..\\metrics",
      "/healthz%00/../metrics",
      "/healthz//../../metrics",
      "/livez/../metrics",
      `https://127.0.0.1:${port}/metrics`,
      "*",
    ]) {
      const { status, body } = await sendRequest(port, path);
      expect([path, status, body.includes("# HELP")]).toEqual([path, expect.toBeOneOf([400, 403, 404]), false]);
    }
    expect((await sendRequest(port, "/%68ealthz")).status).toBe(200);
  });
});

/**
 * Starts a manager that identifies users and front proxies by certificates, and lets every client read everything below
 * `/healthz`.
 */
async function startVictim(scope: Scope, node: string): Promise<Victim> {
  const cluster = await startRbacCluster(scope);
  await cluster.allow("manager", DELEGATION);
  await cluster.allow("prometheus", MONITORING);
  const [clients, proxies] = [await makeAuthority("clients"), await makeAuthority("proxies")];
  await cluster.client.resource(configMaps).create({
    metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" },
    data: {
      "client-ca-file": clients.cert,
      "requestheader-client-ca-file": proxies.cert,
      "requestheader-username-headers": '["X-Remote-User"]',
      "requestheader-group-headers": '["X-Remote-Group"]',
      "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
      "requestheader-allowed-names": "[]",
    },
  });
  const kubeconfig = await cluster.kubeconfig("manager");
  const port = await freePort();
  const manager = startManager(
    scope,
    [
      `--kubeconfig=${await cluster.kubeconfig("admin")}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      "--authorization-always-allow-paths=/healthz,/healthz/*,/readyz,/livez",
      "--leader-elect=false",
    ],
    {},
    node,
  );
  await manager.logged("Serving securely on");
  return { port, clients, proxies };
}

function openPlain(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.on("error", () => resolve(socket));
  });
}

/** Resolves when the text is written, or the connection was refused. */
function openTls(port: number, text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      if (text === "") resolve(socket);
      else socket.write(text, () => resolve(socket));
    });
    socket.on("data", () => undefined);
    socket.on("error", () => resolve(socket));
    socket.on("close", () => resolve(socket));
  });
}

const messageOf = (body: string): string => (JSON.parse(body) as { message: string }).message;
