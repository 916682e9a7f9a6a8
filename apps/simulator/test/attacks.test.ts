import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { type Browser, browserPath, launchBrowser, type Page } from "../../../tooling/browser/chromium.js";
import { findRuntime } from "../../../tooling/find-runtime.ts";
import { type Answer, ServedProcess } from "./served-process.js";

const TIMEOUT_MS = 120_000;
const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const ADVANCE = "/_kubewright/clock/advance";
const configMap = (name: string): string => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

const older = findRuntime("node-22");
if ("missing" in older)
  console.warn(`skipped: the attacks on Node 22, which cannot be installed here: ${older.missing}`);
const runtimes = [
  { name: process.version, node: process.execPath },
  ...("path" in older ? [{ name: "Node 22", node: older.path }] : []),
];

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-attacks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The requests that a page can send without permission; returns all data that it received. */
const ATTACKS = `async ({ url, path, advance, body }) => {
  const learned = [];
  const attempt = async (action) => {
    try { learned.push(await action()); } catch { /* nothing learned */ }
  };
  const text = async (path, init) => (await fetch(url + path, init)).text();
  const untyped = () => new Blob([body], { type: "" });
  for (const data of [untyped(), body, new URLSearchParams({ body })])
    await attempt(() => text(path, { method: "POST", mode: "no-cors", body: data }));
  await attempt(() => text(advance, { method: "POST", mode: "no-cors", body: '{"seconds":60}' }));
  await attempt(() => text(path, { method: "POST", headers: { "content-type": "application/json" }, body }));
  await attempt(() => text(path, { method: "DELETE" }));
  await attempt(() => text(path));
  await attempt(() => text("/ui/", { mode: "no-cors" }));
  await attempt(() => new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws") + path + "?watch=1");
    socket.onopen = () => resolve("open");
    socket.onerror = reject;
  }));
  const frame = document.createElement("iframe");
  frame.name = "frame";
  const loads = async (start) => {
    await new Promise((resolve) => { frame.onload = resolve; start(); });
    await attempt(async () => frame.contentDocument.body.innerText);
  };
  await loads(() => { frame.src = url + "/ui/"; document.body.append(frame); });
  const form = document.createElement("form");
  Object.assign(form, { method: "POST", action: url + path, enctype: "text/plain", target: "frame" });
  const input = document.createElement("input");
  Object.assign(input, { name: body.slice(0, -1) + ',"data":{"x":"', value: '"}}' });
  form.append(input);
  document.body.append(form);
  await loads(() => form.submit());
  navigator.sendBeacon(url + path, body);
  navigator.sendBeacon(url + path, untyped());
  return learned.filter((text) => text !== "");
}`;

describe.each(runtimes)("kubewright serve on $name", { timeout: TIMEOUT_MS }, ({ node }) => {
  let served: ServedProcess;

  beforeAll(async () => {
    served = await ServedProcess.start(node, ["--speed", "manual"]);
    const answer = await served.send({ method: "POST", path: CONFIG_MAPS, body: configMap("there-before") });
    expect(answer.status).toBe(201);
  }, TIMEOUT_MS);
  afterAll(async () => {
    expect((await served.stop()).code).toBe(0);
  });

  /** Returns the names of the existing ConfigMaps. */
  const names = async (): Promise<string[]> => {
    const { text } = await served.send({ path: CONFIG_MAPS });
    return (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
  };
  const time = async (): Promise<string> => {
    const { text } = await served.send({ method: "POST", path: ADVANCE, body: '{"seconds":0}' });
    return (JSON.parse(text) as { now: string }).now;
  };
  const expectRefused = ({ status, headers, text }: Answer): void => {
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403 });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  };

  test("a name that was made to lead here reads nothing and writes nothing", async () => {
    const before = await time();
    for (const host of ["evil.example", `evil.example:${served.port}`, `localhost.evil.example:${served.port}`]) {
      // The headers of a page with such a name: every request is same-origin, and the page may send any headers.
      const headers = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin", authorization: "Bearer x" };
      const type = { "content-type": "application/json" };
      for (const path of [
        CONFIG_MAPS,
        `${CONFIG_MAPS}?watch=1`,
        "/ui/",
        "/_kubewright/trace",
        "/metrics",
        "/openapi/v3",
      ])
        expectRefused(await served.send({ path, headers }));
      expectRefused(
        await served.send({
          method: "POST",
          path: CONFIG_MAPS,
          headers: { ...headers, ...type },
          body: configMap("evil"),
        }),
      );
      expectRefused(await served.send({ method: "POST", path: ADVANCE, headers, body: '{"seconds":3600}' }));
      expectRefused(await served.send({ method: "DELETE", path: CONFIG_MAPS, headers }));
    }
    expect([await names(), await time()]).toEqual([["there-before"], before]);
  });

  test.each<[string, (port: number) => Record<string, string>]>([
    ["another site", () => ({ origin: "http://evil.example", "sec-fetch-site": "cross-site" })],
    ["another site in an older browser", () => ({ origin: "http://evil.example" })],
    ["a page without an origin", () => ({ origin: "null" })],
    ["a page without an origin in a newer browser", () => ({ origin: "null", "sec-fetch-site": "cross-site" })],
    ["another port", (port) => ({ origin: `http://127.0.0.1:${port - 1}`, "sec-fetch-site": "same-site" })],
    ["an element of a page", () => ({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })],
    ["an element on another port", () => ({ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })],
  ])("%s creates nothing, for any content type", async (_title, headers) => {
    const before = await time();
    for (const type of [
      {},
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
    ]) {
      const all = { ...headers(served.port), ...type };
      expectRefused(await served.send({ method: "POST", path: CONFIG_MAPS, headers: all, body: configMap("evil") }));
      expectRefused(await served.send({ method: "POST", path: ADVANCE, headers: all, body: '{"seconds":3600}' }));
      expectRefused(await served.send({ path: CONFIG_MAPS, headers: all }));
    }
    const preflight = { ...headers(served.port), "access-control-request-method": "DELETE" };
    expectRefused(await served.send({ method: "OPTIONS", path: CONFIG_MAPS, headers: preflight }));
    expect([await names(), await time()]).toEqual([["there-before"], before]);
  });

  test("a WebSocket of another site is a request like any other", async () => {
    const socket = connect(served.port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
    socket.write(
      `GET ${CONFIG_MAPS}?watch=1 HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(socket, "data");
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  });

  test("no path breaks it", async () => {
    for (const path of [
      "/%zz",
      `${CONFIG_MAPS}/%zz`,
      "/ui/%zz",
      "/_kubewright/%zz",
      "/%",
      "//",
      "/%00",
      "/ui/../../etc/passwd",
    ]) {
      const { status, text } = await served.send({ path });
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
      expect(text).not.toMatch(/root:|\n {4}at /);
    }
    expect(await names()).toEqual(["there-before"]);
  });

  test("it serves no other host without credentials, and none with TLS", async () => {
    const said = await Promise.all(
      [["--host", "0.0.0.0"], ["--host", "::"], ["--tls"]].map((flags) => ServedProcess.refuse(node, flags)),
    );
    expect(said.map(({ code }) => code)).toEqual([2, 2, 2]);
    const [anywhere, , tls] = said;
    expect(anywhere?.stderr).toMatch(/^kubewright: --host: .*--token.*--allow-anonymous.*\n$/);
    expect(tls?.stderr).toMatch(/^kubewright: --tls: .*--kubeconfig.*\n$/);
  });

  test("over TLS only the kubeconfig's certificate authenticates, and files with secrets are readable only by their owner", async () => {
    const folder = makeFolder();
    const [kubeconfig, snapshot, link] = ["kubeconfig", "snapshot", "link"].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const file of [kubeconfig, snapshot]) {
      writeFileSync(file, "of an earlier time");
      chmodSync(file, 0o666);
    }
    symlinkSync(snapshot, link);
    const secure = await ServedProcess.start(node, ["--tls", "--kubeconfig", kubeconfig, "--snapshot", link]);
    const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
    expect(mode(kubeconfig)).toBe("600");
    const text = readFileSync(kubeconfig, "utf8");
    const data = (name: string): Buffer => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)![1]!, "base64");
    const status = (options: object): Promise<number> =>
      new Promise((resolve, reject) => {
        const ca = data("certificate-authority-data");
        httpsRequest(`${secure.url}/api/v1/secrets`, { ca, agent: false, ...options }, (answer) => {
          resolve(answer.resume().statusCode ?? 0);
        })
          .on("error", reject)
          .end();
      });
    expect(await status({})).toBe(401);
    expect(await status({ headers: { authorization: "Bearer guessed" } })).toBe(401);
    expect(await status({ cert: data("client-certificate-data"), key: data("client-key-data") })).toBe(200);
    expect((await secure.stop()).code).toBe(0);
    expect([mode(snapshot), readFileSync(snapshot, "utf8")[0]]).toEqual(["600", "{"]);
  });

  test("a token reads the Secrets that RBAC gives it, and by no way another namespace's", async () => {
    const folder = makeFolder();
    const tokens = path.join(folder, "tokens.csv");
    writeFileSync(tokens, 'root,root,1,"system:masters"\ndev,dev,2\n');
    const cluster = await ServedProcess.start(node, ["--token-file", tokens, "--authorization", "RBAC"]);
    onTestFinished(async () => void (await cluster.stop()));
    const create = async (path: string, value: object): Promise<void> => {
      const headers = { authorization: "Bearer root", "content-type": "application/json" };
      const { status, text } = await cluster.send({ method: "POST", path, headers, body: JSON.stringify(value) });
      expect([status, text]).toEqual([201, text]);
    };
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/own";
    for (const name of ["own", "other"]) {
      await create("/api/v1/namespaces", { metadata: { name } });
      await create(`/api/v1/namespaces/${name}/secrets`, {
        metadata: { name: "s" },
        stringData: { key: `of ${name}` },
      });
    }
    await create(`${rbac}/roles`, {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch"] }],
    });
    await create(`${rbac}/rolebindings`, {
      metadata: { name: "reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "dev" }],
    });
    const read = (path: string, headers = {}): Promise<Answer> =>
      cluster.send({ path, headers: { authorization: "Bearer dev", ...headers } });
    expect((await read("/api/v1/namespaces/own/secrets/s")).text).toContain(btoa("of own"));
    for (const path of [
      "/api/v1/namespaces/other/secrets/s",
      "/api/v1/namespaces/other/secrets",
      "/api/v1/namespaces/other/secrets?watch=1",
      "/api/v1/secrets",
      "/api/v1/secrets?fieldSelector=metadata.namespace=own",
      "/api/v1/watch/secrets",
      "/api/v1/watch/namespaces/other/secrets/s",
      "/api/v1/namespaces/own/secrets/../../other/secrets/s",
      "/api/v1/namespaces/own%2f..%2fother/secrets/s",
      "/api/v1/namespaces/own/secrets/..%2f..%2fother%2fsecrets%2fs",
      "/api/v1/namespaces/%6fther/secrets/s",
      "/api/v1//namespaces/other/secrets/s",
      "//api/v1/namespaces/other/secrets/s",
      "/api/v1/namespaces/other/secrets/s/",
      "/API/v1/namespaces/other/secrets/s",
    ]) {
      const answer = await read(path);
      expect([path, answer.text.includes(btoa("of other"))]).toEqual([path, false]);
      expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
    }
    for (const headers of [
      { "impersonate-user": "root", "impersonate-group": "system:masters" },
      { authorization: "" },
      { authorization: "Bearer root,dev" },
    ])
      expect((await read("/api/v1/namespaces/other/secrets/s", headers)).status).toSatisfy(
        (code) => code === 401 || code === 403,
      );
  });

  // The server's answers decide what a browser permits, on any runtime.
  const inBrowser = browserPath !== undefined && (HEAVY || node === process.execPath);
  describe.runIf(inBrowser)("with a real browser", () => {
    let browser: Browser;
    let elsewhere: Server;

    beforeAll(async () => {
      elsewhere = createServer((_request, response) => {
        response.setHeader("content-type", "text/html");
        response.end("<!doctype html><title>evil</title>");
      }).listen(0, "127.0.0.1");
      await once(elsewhere, "listening");
      browser = await launchBrowser(
        // A name whose DNS record points to this server.
        "--host-resolver-rules=MAP evil.example 127.0.0.1",
      );
    }, TIMEOUT_MS);
    afterAll(async () => {
      await browser?.close();
      elsewhere?.close();
    });

    const open = async (url: string, headers: Record<string, string> = {}): Promise<Page> => {
      const context = await browser.newContext({ extraHTTPHeaders: headers, ignoreHTTPSErrors: true });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      await page.goto(url, { timeout: TIMEOUT_MS });
      return page;
    };
    /** Waits until the page follows the cluster, and advances the clock from it. Returns the status. */
    const moveClock = async (page: Page): Promise<number> => {
      await page.getByText(/^Live, /).waitFor({ timeout: TIMEOUT_MS });
      const moved = `fetch("../_kubewright/clock/advance", { method: "POST", body: '{"seconds":1}' })`;
      return page.evaluate(`${moved}.then(({ status }) => status)`);
    };

    test("a page of another port, of another name of this machine, or of another site writes and reads nothing", async () => {
      const before = await time();
      const attack = async (host: string): Promise<void> => {
        const page = await open(`http://${host}:${(elsewhere.address() as AddressInfo).port}/`);
        const answered: [string, number][] = [];
        page.on("response", (response) => {
          if (response.url().startsWith(served.url))
            answered.push([response.request().resourceType(), response.status()]);
        });
        const target = { url: served.url, path: CONFIG_MAPS, advance: ADVANCE, body: configMap("evil") };
        const learned = await page.evaluate(`(${ATTACKS})(${JSON.stringify(target)})`);
        expect([host, learned]).toEqual([host, []]);
        // The browser chooses when to send beacons.
        await expect.poll(() => answered.filter(([type]) => type === "ping").length).toBe(2);
        expect(answered.filter(([, status]) => status !== 403)).toEqual([]);
        expect(answered.length).toBeGreaterThanOrEqual(9);
      };
      await Promise.all(["127.0.0.1", "localhost", "evil.example"].map(attack));
      expect([await names(), await time()]).toEqual([["there-before"], before]);
    });

    test("a name that was made to lead here shows its page a refusal", async () => {
      const page = await open(`http://evil.example:${served.port}${CONFIG_MAPS}`);
      const shown = JSON.parse(await page.locator("body").innerText()) as { code: number; message: string };
      expect([shown.code, shown.message]).toEqual([403, expect.stringContaining("--allowed-hosts")]);
      const create = `fetch(${JSON.stringify(CONFIG_MAPS)}, { method: "POST", body: ${JSON.stringify(configMap("evil"))} })`;
      expect(await page.evaluate(`${create}.then(({ status }) => status)`)).toBe(403);
      expect(await names()).toEqual(["there-before"]);
    });

    test("its own page reads and writes", async () => {
      expect(await moveClock(await open(`http://localhost:${served.port}/ui/`))).toBe(200);
    });

    test("with credentials required, its page opens for clients that send them, and through kubectl's proxy", async (context) => {
      const kubeconfig = path.join(makeFolder(), "kubeconfig");
      const access = ["--tls", "--token", "s3cret", "--kubeconfig", kubeconfig];
      const secure = await ServedProcess.start(node, ["--speed", "manual", ...access]);
      onTestFinished(async () => void (await secure.stop()));
      expect(await moveClock(await open(`${secure.url}/ui/`, { authorization: "Bearer s3cret" }))).toBe(200);
      const kubectl = process.env["KUBECTL"] ?? "kubectl";
      if ((await promisify(execFile)(kubectl, ["version", "--client"]).catch(() => undefined)) === undefined) {
        console.warn("skipped: the page through kubectl's proxy, because there is no kubectl");
        context.skip();
      }
      const proxy = execFile(kubectl, ["--kubeconfig", kubeconfig, "proxy", "--port", "0"]);
      onTestFinished(() => void proxy.kill());
      const [said] = (await once(proxy.stdout!, "data")) as [string];
      expect(await moveClock(await open(`http://${/127\.0\.0\.1:\d+/.exec(said)![0]}/ui/`))).toBe(200);
    });
  });
});
