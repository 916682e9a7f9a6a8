import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type Server, createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";

import { certificates } from "../../test/certificates.js";
import { type AdmissionReview, type ApiServer, createApiServer, jsonPatchOf } from "../index.js";
import { callWebhook } from "./call-webhook.js";
import { listen } from "./listen.js";

const ended: (() => unknown)[] = [];
const asked = new EventEmitter();
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

type Answer = (review: AdmissionReview) => object | string;
const PATHS: Record<string, Answer> = {
  "/allow": () => ({ allowed: true, warnings: ["take care"] }),
  "/deny": () => ({ allowed: false, status: { code: 418, message: "not today" } }),
  "/patch": () => ({ allowed: true, ...jsonPatchOf([{ op: "add", path: "/data/added", value: "yes" }]) }),
  "/hang": () => "hang",
  "/cut": () => "cut",
  "/garbage": () => "no JSON",
  "/huge": () => "x".repeat(4 * 1024 * 1024),
};

/** Starts a webhook server and returns its URL. */
async function webhookServer(
  key: string = certificates.serverKey,
  cert: string = certificates.serverCert,
): Promise<string> {
  const server: Server = createTlsServer({ key, cert }, (request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      const path = request.url!.split("?")[0]!;
      const { apiVersion, kind, request: admission } = JSON.parse(text) as AdmissionReview;
      asked.emit(path);
      const answer = PATHS[path]?.({ apiVersion, kind, request: admission });
      if (answer === "hang") return;
      if (answer === "cut") {
        response.writeHead(200, { "content-length": 100 });
        response.write("{", () => request.socket.destroy());
        return;
      }
      if (answer === undefined) response.writeHead(500);
      response.end(
        typeof answer === "object"
          ? JSON.stringify({ apiVersion, kind, response: { uid: admission.uid, ...answer } })
          : (answer ?? "out of order"),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ended.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

function apiServer(): ApiServer {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), webhooks: callWebhook, freeze: true });
  ended.push(() => server.close());
  return server;
}

async function configure(
  server: ApiServer,
  url: string,
  change: object = {},
  kind = "ValidatingWebhookConfiguration",
): Promise<void> {
  const webhook = {
    name: "hook.example.com",
    clientConfig: { url, caBundle: Buffer.from(certificates.ca).toString("base64") },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    ...change,
  };
  const body = { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: "w" }, webhooks: [webhook] };
  const plural = `${kind.toLowerCase()}s`;
  const { status } = await send(server, "POST", `/apis/admissionregistration.k8s.io/v1/${plural}`, body);
  expect(status).toBe(201);
}

async function send(
  server: ApiServer,
  method: "POST",
  path: string,
  value: unknown,
): Promise<{ status: number; warning: unknown; value: Record<string, unknown> }> {
  const response = await server.transport({ method, path, headers: {}, body: { type: "decoded", value } });
  if (response.body.type !== "decoded") throw new Error("no object");
  return {
    status: response.status,
    warning: response.headers["warning"],
    value: response.body.value as Record<string, unknown>,
  };
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "1" } };

test("a webhook that allows a request lets it pass, and its warnings are returned", async () => {
  const server = apiServer();
  await configure(server, `${await webhookServer()}/allow`);
  const { status, warning } = await send(server, "POST", CONFIG_MAPS, configMap);
  expect([status, warning]).toEqual([201, ['299 - "take care"']]);
});

test("a webhook that denies says with what and why", async () => {
  const server = apiServer();
  await configure(server, `${await webhookServer()}/deny`);
  const { status, value } = await send(server, "POST", CONFIG_MAPS, configMap);
  expect([status, value["message"]]).toEqual([
    418,
    'admission webhook "hook.example.com" denied the request: not today',
  ]);
});

test("a mutating webhook's patch is stored", async () => {
  const server = apiServer();
  await configure(server, `${await webhookServer()}/patch`, {}, "MutatingWebhookConfiguration");
  const { status, value } = await send(server, "POST", CONFIG_MAPS, configMap);
  expect([status, value["data"]]).toEqual([201, { a: "1", added: "yes" }]);
});

/** Text after `failed calling webhook "hook.example.com": failed to call webhook: Post "…": `. */
const FAILURES: [path: string, timeoutSeconds: number, why: string][] = [
  ["/hang", 1, "context deadline exceeded"],
  ["/cut", 30, "unexpected EOF"],
  ["/huge", 30, "the answer is longer than 3145728 bytes"],
];

test.each(FAILURES)(
  "of a webhook at %s that gives no answer within %i s the failure policy decides",
  async (path, timeoutSeconds, why) => {
    const url = `${await webhookServer()}${path}`;
    const closed = apiServer();
    await configure(closed, url, { timeoutSeconds });
    const { status, value } = await send(closed, "POST", CONFIG_MAPS, configMap);
    expect([status, value["reason"], value["message"]]).toEqual([
      500,
      "InternalError",
      `Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "${url}?timeout=${timeoutSeconds}s": ${why}`,
    ]);
    const open = apiServer();
    await configure(open, url, { timeoutSeconds, failurePolicy: "Ignore" });
    expect((await send(open, "POST", CONFIG_MAPS, configMap)).status).toBe(201);
  },
);

test.each([
  ["/garbage", /failed to call webhook: couldn't get version\/kind; json parse error: /],
  [
    "/none",
    /failed to call webhook: an error on the server \("out of order"\) has prevented the request from succeeding$/,
  ],
])("what a webhook at %s answers is no review", async (path, why) => {
  const server = apiServer();
  await configure(server, `${await webhookServer()}${path}`);
  const { status, value } = await send(server, "POST", CONFIG_MAPS, configMap);
  expect([status, value["message"]]).toEqual([500, expect.stringMatching(why)]);
});

test("certificates are verified: of whom they are, for whom, and that there is an authority", async () => {
  const url = await webhookServer();
  const message = async (target: string, caBundle?: string): Promise<unknown> => {
    const server = apiServer();
    await configure(server, `${target}/allow`, {
      clientConfig: { url: `${target}/allow`, ...(caBundle ? { caBundle } : {}) },
    });
    return (await send(server, "POST", CONFIG_MAPS, configMap)).value["message"];
  };
  expect(await message(url)).toMatch(
    /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
  const ca = Buffer.from(certificates.ca).toString("base64");
  expect(await message(url.replace("localhost", "127.0.0.2"), ca)).toMatch(/connection refused$/);
  expect(await message(url, Buffer.from("none").toString("base64"))).toMatch(
    /unable to load root certificates: unable to parse bytes as PEM block$/,
  );
  expect(await message(url, ca)).toBeUndefined();
});

test("a webhook behind a service is found through what the service leads to, by the service's name", async () => {
  const port = Number(new URL(await webhookServer()).port);
  const call = (url: string): Promise<unknown> =>
    callWebhook({
      url,
      address: { host: "127.0.0.1", port },
      caBundle: Buffer.from(certificates.ca).toString("base64"),
      body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: "1" } },
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });
  await expect(call("https://localhost:443/allow")).resolves.toMatchObject({ status: 200 });
  await expect(call("https://hook.shop.svc:443/allow")).rejects.toThrow(
    "tls: failed to verify certificate: x509: certificate is valid for localhost, 127.0.0.1, not hook.shop.svc",
  );
  const server = apiServer();
  await configure(server, "", { clientConfig: { service: { name: "hook", namespace: "default", path: "/x" } } });
  const message = async (): Promise<unknown> => (await send(server, "POST", CONFIG_MAPS, configMap)).value["message"];
  const failed =
    'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://hook.default.svc:443/x?timeout=10s": ';
  expect(await message()).toBe(`${failed}service "hook" not found`);
  const service = (servicePort: number): object => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hook" },
    spec: { ports: [{ port: servicePort }] },
  });
  await send(server, "POST", "/api/v1/namespaces/default/services", service(443));
  expect(await message()).toBe(`${failed}no endpoints available for service "hook"`);
});

test("what answers without TLS is said to", async () => {
  const plain = createServer((_request, response) => response.end());
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  ended.push(() => plain.close());
  const server = apiServer();
  await configure(server, `https://127.0.0.1:${(plain.address() as AddressInfo).port}/x`);
  const { value } = await send(server, "POST", CONFIG_MAPS, configMap);
  expect(value["message"]).toMatch(/http: server gave HTTP response to HTTPS client$/);
});

test.each([
  ["stops", (server: ApiServer) => server.close()],
  ["hands over", (server: ApiServer) => Promise.resolve(server.handOver(apiServer()))],
])("a server that %s waits for no webhook", async (_how, end) => {
  const server = apiServer();
  await configure(server, `${await webhookServer()}/hang`, { timeoutSeconds: 30 });
  const listener = await listen(server);
  const hung = once(asked, "/hang");
  const inProcess = send(server, "POST", CONFIG_MAPS, configMap);
  const overHttp = fetch(`${listener.url}${CONFIG_MAPS}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(configMap),
  }).then(
    async (response) => ((await response.json()) as { message?: string }).message,
    () => "context canceled",
  );
  await hung;
  await end(server);
  expect((await inProcess).value["message"]).toMatch(/context canceled$/);
  // A client whose socket is closed receives nothing.
  expect(await overHttp).toMatch(/context canceled$/);
});
