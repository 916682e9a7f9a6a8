import { mkdtempSync, rmSync } from "node:fs";
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";

import { configMaps, leases, secrets } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";
import { type TestContext, describe, test } from "vitest";

import { embeddedApiServer } from "../../../conformance/api-server.ts";
import { freePort } from "../../../conformance/free-port.ts";

type Scope = Pick<TestContext, "onTestFinished" | "expect">;

const MAIN = path.join(import.meta.dirname, "observer-main.ts");
const place = { namespace: "default" };

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts the operator as a separate process, and kills it after the test. */
function startObserver(scope: Scope, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  scope.onTestFinished(() => void child.kill("SIGKILL"));
  const text = { out: "", err: "" };
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => (text.out += chunk));
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (text.err += chunk));
  const ended = new Promise<Ended>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  return {
    text,
    ended,
    pid: String(child.pid),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    lines: () =>
      text.err
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    says: (message: string) => scope.expect.poll(() => text.err).toContain(`"msg":${JSON.stringify(message)}`),
    addressOf: async (serves: string) => {
      await scope.expect.poll(() => text.err).toContain(`"serves":"${serves}"`);
      return new RegExp(`"address":"([^"]+)","serves":"${serves}"`).exec(text.err)![1]!;
    },
  };
}

const ANY_PORT = [
  "--metrics-bind-address=127.0.0.1:0",
  "--health-probe-bind-address=127.0.0.1:0",
  "--webhook-bind-address=0",
];

async function startCluster(scope: Scope) {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-operator-"));
  scope.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { kubeconfig, url, stop } = await embeddedApiServer([]).start(folder);
  scope.onTestFinished(stop);
  const { transport, close } = createHttpTransport({ server: url });
  scope.onTestFinished(close);
  const client = new Client({ transport, clock: realClock });
  const create = (name: string, observe: string) =>
    client.resource(configMaps).create({ metadata: { name, ...place, labels: { observe } } });
  const seenBy = async (name: string) => (await client.resource(configMaps).get(name, place)).data?.pid;
  const flags = [`--kubeconfig=${kubeconfig}`, ...ANY_PORT];
  return { kubeconfig, client, create, seenBy, flags };
}

describe.concurrent("an operator as a process", () => {
  test("serves CPU profiles and heap snapshots on the loopback address when a flag asks for it", async ({
    expect,
    onTestFinished,
  }) => {
    const scope = { expect, onTestFinished };
    const { flags } = await startCluster(scope);
    const observer = startObserver(scope, [...flags, "--profiling-bind-address=:0"]);
    const address = await observer.addressOf("profiling");
    expect(address).toMatch(/^127\.0\.0\.1:/);
    const profile = await fetch(`http://${address}/debug/pprof/profile?seconds=0.2`);
    expect(Object.keys((await profile.json()) as object)).toEqual(expect.arrayContaining(["nodes", "samples"]));
    const heap = await fetch(`http://${address}/debug/pprof/heap`);
    expect(Object.keys((await heap.json()) as object)).toEqual(
      expect.arrayContaining(["snapshot", "nodes", "strings"]),
    );
    expect((await fetch(`http://${address}/debug/pprof/profile?seconds=x`)).status).toBe(400);
    expect((await fetch(`http://${address}/metrics`)).status).toBe(404);
  });

  test("serves health and metrics, works, and stops with status 0 when what it had begun has ended", async ({
    expect,
    onTestFinished,
  }) => {
    const scope = { expect, onTestFinished };
    const { client, create, seenBy, flags } = await startCluster(scope);
    const observer = startObserver(scope, flags);
    const health = `http://${await observer.addressOf("health")}`;
    const metrics = `http://${await observer.addressOf("metrics")}`;
    await expect.poll(async () => (await fetch(`${health}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${health}/healthz?verbose`)).text()).toBe(
      "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n",
    );
    expect((await fetch(`${health}/healthz/leaderElection`)).status).toBe(200);
    expect((await fetch(`${health}/metrics`)).status).toBe(404);
    await create("a", "quickly");
    await expect.poll(() => seenBy("a")).toBe(observer.pid);
    const text = await (await fetch(`${metrics}/metrics`)).text();
    for (const line of [
      'leader_election_master_status{name="observer"} 1',
      'controller_runtime_max_concurrent_reconciles{controller="configmap"} 1',
      "process_cpu_seconds_total",
    ])
      expect(text).toContain(line);
    expect((await fetch(`${metrics}/metrics`, { method: "POST" })).status).toBe(405);
    await create("b", "slowly");
    await expect.poll(() => observer.text.err).toContain('"observe":"slowly"');
    observer.kill("SIGTERM");
    expect(await observer.ended).toEqual({ code: 0, signal: null });
    expect(await seenBy("b")).toBe(observer.pid);
    expect((await client.resource(leases).get("observer", place)).spec?.holderIdentity).toBe("");
    expect(observer.lines()[0]).toMatchObject({ level: "info", logger: "observer", msg: "Listening" });
  });

  test("serves webhooks, publishes them to the API server, and is ready after that", async ({
    expect,
    onTestFinished,
  }) => {
    const scope = { expect, onTestFinished };
    const { client, flags, seenBy, create } = await startCluster(scope);
    const port = await freePort();
    const url = `https://127.0.0.1:${port}`;
    const observer = startObserver(scope, [
      ...flags,
      `--webhook-bind-address=127.0.0.1:${port}`,
      `--webhook-url=${url}`,
    ]);
    const health = `http://${await observer.addressOf("health")}`;
    await expect.poll(async () => (await fetch(`${health}/readyz`)).status).toBe(200);
    await expect(
      client.resource(configMaps).create({ metadata: { name: "b", ...place }, data: { pid: "0" } }),
    ).rejects.toThrow('admission webhook "validate.configmaps.core" denied the request: no process has that id');
    await create("a", "quickly");
    await expect.poll(() => seenBy("a")).toBe(observer.pid);
    expect((await client.resource(secrets).get("observer-webhooks", place)).type).toBe("kubernetes.io/tls");
    observer.kill("SIGTERM");
    expect((await observer.ended).code).toBe(0);
  });

  test("is followed by a second one, whether it is stopped or killed", async ({ expect, onTestFinished }) => {
    const scope = { expect, onTestFinished };
    const { create, seenBy, flags } = await startCluster(scope);
    const first = startObserver(scope, flags, { LEASE_MS: "6000" });
    await create("a", "quickly");
    await expect.poll(() => seenBy("a")).toBe(first.pid);
    const second = startObserver(scope, flags);
    await second.says("New leader elected");
    first.kill("SIGKILL");
    await create("b", "quickly");
    await expect.poll(() => seenBy("b")).toBe(second.pid);
    const third = startObserver(scope, flags);
    await third.says("New leader elected");
    second.kill("SIGINT");
    await create("c", "quickly");
    await expect.poll(() => seenBy("c")).toBe(third.pid);
  });

  test("ends at the second signal, and with status 1 when what it had begun does not end", async ({
    expect,
    onTestFinished,
  }) => {
    const scope = { expect, onTestFinished };
    const { create, flags } = await startCluster(scope);
    await create("a", "endlessly");
    const one = startObserver(scope, [...flags, "--leader-elect=false"]);
    await one.says("Looking");
    one.kill("SIGTERM");
    one.kill("SIGINT");
    expect(await one.ended).toEqual({ code: 1, signal: null });
    expect(one.text.err).not.toContain("did not end within");
    const other = startObserver(scope, [...flags, "--no-leader-elect"]);
    await other.says("Looking");
    other.kill("SIGTERM");
    expect(await other.ended).toEqual({ code: 1, signal: null });
    expect(other.lines().at(-1)).toMatchObject({
      level: "error",
      msg: "Operator failed",
      err: "configmap: reconciling default/a did not end within 2 s of the stop signal",
    });
  });

  test.for([
    { args: ["--nope"], message: "Unknown option '--nope'" },
    { args: ["--webhook-url=http://a"], message: '--webhook-url must be an https:// URL, not "http://a"' },
    { args: ["x"], message: "Unexpected argument 'x'" },
    { args: ["--log-level=loud"], message: '--log-level must be one of debug, info, warn, error, not "loud"' },
    {
      args: ["--metrics-bind-address=8080"],
      message: '--metrics-bind-address must be HOST:PORT, or 0 for nowhere, not "8080"',
    },
  ])("answers wrong usage $args with one line and status 2", async ({ args, message }, { expect, onTestFinished }) => {
    const scope = { expect, onTestFinished };
    const observer = startObserver(scope, args);
    expect((await observer.ended).code).toBe(2);
    expect(observer.text.err).toMatch(new RegExp(`^observer: ${message.replaceAll(/[.()[\]]/g, "\\$&")}.*\n$`));
  });

  test("reports what is missing in one line and exits with status 1", async ({ expect, onTestFinished }) => {
    const scope = { expect, onTestFinished };
    const lost = startObserver(scope, ["--kubeconfig=/no/such/file"]);
    expect((await lost.ended).code).toBe(1);
    expect(lost.lines()).toMatchObject([
      { msg: "Operator failed", err: 'error loading config file "/no/such/file": no such file or directory' },
    ]);
    const { flags } = await startCluster(scope);
    const one = startObserver(scope, [...flags, "--webhook-bind-address=127.0.0.1:0"]);
    const address = await one.addressOf("health");
    await one.says("Not serving webhooks: outside of a cluster the API server finds them by --webhook-url only");
    const other = startObserver(scope, [...flags, `--health-probe-bind-address=${address}`]);
    expect((await other.ended).code).toBe(1);
    expect(other.lines().at(-1)).toMatchObject({
      err: `--health-probe-bind-address: cannot listen at ${address}: the address is in use by another process; 0 serves nowhere`,
    });
  });

  test("prints its flags to standard output", async ({ expect, onTestFinished }) => {
    const scope = { expect, onTestFinished };
    const observer = startObserver(scope, ["--help"]);
    expect((await observer.ended).code).toBe(0);
    expect(observer.text.out).toContain("--leader-elect[=false]");
  });
});
