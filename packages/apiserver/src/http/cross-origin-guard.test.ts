import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";

import { describe, expect, onTestFinished, test } from "vitest";
import type { Status } from "@kubewright/api";
import { realClock, seededRandom } from "@kubewright/clock";

import { certificates } from "../../test/certificates.js";
import { createApiServer } from "../api-server.js";
import type { ApiServerOptions } from "../api-server-options.js";
import { listen } from "./listen.js";
import { isLoopbackHost, parseHost } from "./cross-origin-guard.js";
import type { ListenOptions } from "./listen.js";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly value: Partial<Status>;
}

interface Served {
  readonly port: number;
  readonly url: string;
  readonly send: (
    headers: OutgoingHttpHeaders | string[],
    options?: { method?: string; path?: string },
  ) => Promise<Answer>;
  /** Sends the bytes and returns the response until the connection is closed. */
  readonly sendRaw: (text: string) => Promise<string>;
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

async function served(options: Partial<ApiServerOptions> & { readonly on?: ListenOptions } = {}): Promise<Served> {
  const { on = {}, ...server } = options;
  const apiServer = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, ...server });
  const { port, url } = await listen(apiServer, on);
  onTestFinished(() => apiServer.close());
  const host = on.host === undefined || on.host === "0.0.0.0" ? "127.0.0.1" : on.host;
  return {
    port,
    url,
    send: (headers, { method = "GET", path = CONFIG_MAPS } = {}) =>
      new Promise((resolve, reject) => {
        // Sends only the given headers and the length of a body.
        const sent = request({ host, port, method, path, headers, setHost: false, agent: false }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            const isJson = response.headers["content-type"] === "application/json";
            const value = (isJson ? JSON.parse(text) : {}) as Partial<Status>;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, value });
          });
        });
        sent.on("error", reject);
        sent.end(method !== "POST" ? undefined : JSON.stringify({ metadata: { generateName: "x-" } }));
      }),
    sendRaw: async (text) => {
      const socket = connect(port, host);
      let answer = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
      socket.end(text);
      await once(socket, "close");
      return answer;
    },
  };
}

describe("without credentials, Host has to be a name that leads to this machine and nowhere else", () => {
  test.each([
    "localhost",
    "localhost:1",
    "LocalHost:8001",
    "localhost.:8001",
    "127.0.0.1:8001",
    "127.8.9.1",
    "[::1]:8001",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]:8001",
    "[::ffff:7f00:1]",
  ])("%s does", async (host) => {
    const { send } = await served();
    expect((await send({ host })).status).toBe(200);
    expect((await send({ host }, { method: "POST" })).status).toBe(201);
  });

  test.each([
    "evil.example",
    "evil.example:8001",
    "localhost.evil.example",
    "127.0.0.1.evil.example:8001",
    "notlocalhost",
    "sub.localhost",
    "localhost..",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1",
    "localhost:80:80",
    "localhost:port",
    "localhost, evil.example",
    "10.0.0.1:8001",
    "0.0.0.0:8001",
    "[::]:8001",
    "[::ffff:10.0.0.1]:8001",
    "[::1",
    "[fe80::1%25eth0]:8001",
    "[::1%25lo]:8001",
    "::1",
    ":8001",
    "%6cocalhost",
    "",
  ])("%j does not", async (host) => {
    const { send } = await served();
    for (const method of ["GET", "POST"]) {
      const { status, headers, value } = await send({ host }, { method });
      expect([status, value.kind, value.reason, value.code]).toEqual([403, "Status", "Forbidden", 403]);
      expect(value.message).toContain("--allowed-hosts");
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  test("every path is kept, whatever serves it", async () => {
    const { send } = await served({
      paths: { "/ui/": async () => ({ status: 200, contentType: "text/html", text: "" }) },
    });
    for (const path of ["/ui/", "/version", "/healthz", "/openapi/v3", "/apis", "/api/v1/nothing", "/nowhere"])
      expect([path, (await send({ host: "evil.example" }, { path })).status]).toEqual([path, 403]);
    const { status, headers } = await send({ host: "localhost" }, { path: "/ui/" });
    expect([status, headers["x-content-type-options"]]).toEqual([200, "nosniff"]);
  });

  test("more names may be allowed, and the address that is listened on is known", async () => {
    const { send } = await served({ on: { host: "0.0.0.0", allowedHosts: ["Kube.Test.", "10.1.2.3", "[fd00::7]"] } });
    for (const host of ["kube.test:8001", "10.1.2.3", "[fd00:0::7]:1", "0.0.0.0:8001", "127.0.0.1"])
      expect([host, (await send({ host })).status]).toEqual([host, 200]);
    for (const host of ["www.kube.test", "10.1.2.4", "[fd00::8]"])
      expect([host, (await send({ host })).status]).toEqual([host, 403]);
    await expect(served({ on: { allowedHosts: ["kube.test:8001"] } })).rejects.toThrow(
      'allowedHosts: "kube.test:8001" is neither a host name nor an IP address',
    );
  });

  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const address = interfaces.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  const hasIPv6 = interfaces.some(({ family }) => family === "IPv6");

  test.skipIf(address === undefined).each(hasIPv6 ? ["0.0.0.0", "::"] : ["0.0.0.0"])(
    "listening on %s it is known by the address that a connection came to",
    async (everywhere) => {
      const { port } = await served({ on: { host: everywhere } });
      const status = async (host: string): Promise<number> => {
        const sent = request({ host: address, port, path: CONFIG_MAPS, headers: { host }, agent: false }).end();
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        return response.resume().statusCode ?? 0;
      };
      expect(await status(`${address}:${port}`)).toBe(200);
      expect(await status(`[::ffff:${address}]:${port}`)).toBe(200);
      expect(await status("203.0.113.7")).toBe(403);
      expect(await status("evil.example")).toBe(403);
    },
  );

  test("a request says its host once, or in every place the same", async () => {
    const { sendRaw } = await served();
    const own = "Host: 127.0.0.1\r\n";
    const foreign = "Host: evil.example\r\n";
    const status = async (target: string, headers: string): Promise<string> =>
      /^HTTP\/1\.1 (\d+)/.exec(await sendRaw(`GET ${target} ${headers}Connection: close\r\n\r\n`))?.[1] ?? "";
    expect(await status(CONFIG_MAPS, `HTTP/1.1\r\n${own}`)).toBe("200");
    expect(await status(CONFIG_MAPS, `HTTP/1.1\r\n${own}${foreign}`)).toBe("403");
    expect(await status(CONFIG_MAPS, `HTTP/1.1\r\n${foreign}${own}`)).toBe("403");
    expect(await status(CONFIG_MAPS, "HTTP/1.0\r\n")).toBe("403");
    // The request target takes precedence over the header: RFC 9112, section 3.2.2.
    expect(await status(`http://evil.example${CONFIG_MAPS}`, `HTTP/1.1\r\n${own}`)).toBe("403");
    expect(await status(`http://127.0.0.1${CONFIG_MAPS}`, `HTTP/1.1\r\n${foreign}`)).toBe("403");
  });
});

describe("without credentials, a page of another site is refused", () => {
  const own = (port: number): OutgoingHttpHeaders => ({ host: `127.0.0.1:${port}` });

  test.each<[string, (port: number) => OutgoingHttpHeaders]>([
    ["another host", () => ({ origin: "http://evil.example" })],
    ["another port", (port) => ({ origin: `http://127.0.0.1:${port + 1}` })],
    ["another name of the same machine", (port) => ({ origin: `http://localhost:${port}` })],
    ["no origin to speak of", () => ({ origin: "null" })],
    ["a file", () => ({ origin: "file://" })],
    ["an extension", (port) => ({ origin: `chrome-extension://127.0.0.1:${port}` })],
    ["two origins", (port) => ({ origin: `http://127.0.0.1:${port}, http://evil.example` })],
    ["an origin with a user", (port) => ({ origin: `http://evil.example@127.0.0.1:${port}` })],
    ["an empty origin", () => ({ origin: "" })],
    ["cross-site", () => ({ "sec-fetch-site": "cross-site" })],
    ["same-site, which another port is", () => ({ "sec-fetch-site": "same-site" })],
    [
      "same-site with its origin",
      (port) => ({ "sec-fetch-site": "same-site", origin: `http://127.0.0.1:${port + 1}` }),
    ],
    ["cross-site with our origin", (port) => ({ "sec-fetch-site": "cross-site", origin: `http://127.0.0.1:${port}` })],
    ["something new", () => ({ "sec-fetch-site": "sibling" })],
    ["two answers", () => ({ "sec-fetch-site": "same-origin, cross-site" })],
    [
      "a WebSocket",
      () => ({
        origin: "http://evil.example",
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      }),
    ],
  ])("%s", async (_title, headers) => {
    const { port, send } = await served();
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const answer = await send({ ...own(port), ...headers(port) }, { method });
      expect([answer.status, answer.value.reason]).toEqual([403, "Forbidden"]);
      expect(answer.value.message).toMatch(/^forbidden: the request comes from a page of another site \(/);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
    const { value } = (await send(own(port))) as unknown as { value: { items: unknown[] } };
    expect(value.items).toEqual([]);
  });

  test.each<[string, (port: number) => OutgoingHttpHeaders]>([
    ["our own page", (port) => ({ origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" })],
    ["our own page in a browser that says less", (port) => ({ origin: `http://127.0.0.1:${port}` })],
    ["our own page, reading", () => ({ "sec-fetch-site": "same-origin" })],
    ["an address that was typed", () => ({ "sec-fetch-site": "none" })],
    [
      "our own page by way of another",
      (port) => ({ origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-site" }),
    ],
    ["no browser", () => ({})],
  ])("%s is not", async (_title, headers) => {
    const { port, send } = await served();
    expect((await send({ ...own(port), ...headers(port) })).status).toBe(200);
    expect((await send({ ...own(port), ...headers(port) }, { method: "POST" })).status).toBe(201);
  });

  test("behind a proxy that ends TLS the page's origin is the name it is asked for", async () => {
    const { send } = await served({ on: { allowedHosts: ["kube.test"] } });
    expect((await send({ host: "kube.test", origin: "https://kube.test" }, { method: "POST" })).status).toBe(201);
    expect((await send({ host: "kube.test", origin: "https://kube.test:444" }, { method: "POST" })).status).toBe(403);
  });
});

test("a client with credentials may use any host name", async () => {
  const { send } = await served({
    authentication: { tokens: { s3cret: { username: "root", groups: ["system:masters"] } } },
  });
  const foreign = { host: "evil.example", origin: "http://evil.example", "sec-fetch-site": "cross-site" };
  expect((await send({ ...foreign, authorization: "Bearer s3cret" }, { method: "POST" })).status).toBe(201);
  expect((await send({ ...foreign, authorization: "Bearer wrong" }, { method: "POST" })).status).toBe(401);
  expect((await send(foreign, { method: "POST" })).status).toBe(403);
});

test("credentials that are not verified do not count", async () => {
  const { port, send } = await served();
  const host = `127.0.0.1:${port}`;
  await send({ host }, { method: "POST", path: "/api/v1/namespaces/default/serviceaccounts" });
  expect((await send({ host: "evil.example", authorization: "Bearer wrong-token" })).status).toBe(403);
  // Without authentication, a client that knows the seed can forge a service account token.
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  const list = (await send({ host }, { path: accounts })).value as { items: { metadata: { name: string } }[] };
  const token = await send({ host }, { method: "POST", path: `${accounts}/${list.items[0]!.metadata.name}/token` });
  const bearer = (token.value as unknown as { status: { token: string } }).status.token;
  expect((await send({ host: "evil.example", authorization: `Bearer ${bearer}` })).status).toBe(403);
});

test("a client certificate is a credential, also where nothing else is asked for", async () => {
  const tls = { cert: certificates.serverCert, key: certificates.serverKey, clientCA: certificates.ca };
  const { url } = await served({ on: { tls } });
  const status = (client: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { host: "evil.example" };
      const options = { ca: certificates.ca, servername: "localhost", checkServerIdentity: () => undefined };
      httpsRequest(`${url}/version`, { ...options, headers, agent: false, ...client }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on("error", reject)
        .end();
    });
  expect(await status({ cert: certificates.clientCert, key: certificates.clientKey })).toBe(200);
  expect(await status({ cert: certificates.strangerCert, key: certificates.strangerKey })).toBe(403);
  expect(await status({})).toBe(403);
});

test("host names and addresses are distinguished from text that only resembles them", () => {
  expect(
    ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"].map(isLoopbackHost),
  ).not.toContain(false);
  expect(
    ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.1", "0", "fe80::1%lo"].map(isLoopbackHost),
  ).not.toContain(true);
  expect(["A.Test.", "x_y-z.test", "[::1]", "10.0.0.1"].map(parseHost)).toEqual([
    "a.test",
    "x_y-z.test",
    "::1",
    "10.0.0.1",
  ]);
  expect(["", ".", "a..b", "a b", "a:1", "http://a", "*.a", "a/b", "[a]"].map(parseHost)).toEqual(
    Array(9).fill(undefined),
  );
});
