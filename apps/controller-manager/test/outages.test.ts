import { writeFileSync } from "node:fs";
import path from "node:path";

import { jobs, leases } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Clock, realClock } from "@kubewright/clock";
import { describe, expect, test } from "vitest";

import { freePort } from "../../../conformance/free-port.ts";
import { type Certificate, makeAuthority, sign } from "../../../packages/serving/test/certificates.js";
import { sendRequest } from "./https-client.js";
import { type InProcessManager, runManager } from "./manager-in-process.js";
import { startManager } from "./manager-process.js";
import { type ServerConfig, RestartableServer } from "./restartable-server.js";
import type { Scope } from "./scope.js";
import { scratchFolder } from "./launched-cluster.js";
import { job, jobWithCondition, runPods, startCluster } from "./test-cluster.js";

const TOKEN = "first";
const UNREACHABLE = '"API server is out of reach, trying on; further errors are logged at -v=4"';
const REACHABLE = '"API server answers again"';

/** The setup of all tests in this file: an API server with certificates, and a manager that leads. */
interface Setup {
  readonly server: RestartableServer;
  readonly manager: InProcessManager;
  readonly ca: Certificate;
  readonly serverConfig: ServerConfig;
  /** Folder of the kubeconfig and its files. */
  readonly folder: string;
}

interface SetupOptions {
  /** The user in a kubeconfig; file names are relative to the folder. */
  readonly user?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly clientCA?: string;
}

async function setUp(
  scope: Scope,
  { user = { token: TOKEN }, files = {}, clientCA }: SetupOptions = {},
): Promise<Setup> {
  const ca = await makeAuthority("cluster");
  const tls = await sign(ca, "kube-apiserver");
  const serverConfig: ServerConfig = { tokens: [TOKEN], tls: clientCA === undefined ? tls : { ...tls, clientCA } };
  const server = await RestartableServer.start(scope, serverConfig);
  const folder = scratchFolder(scope);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const kubeconfig = writeKubeconfig(folder, server.url, ca, user);
  const manager = runManager(scope, 1, [`--kubeconfig=${kubeconfig}`, "-v=4", ...LONG_LEASE]);
  await waitForLine(manager, "Successfully acquired lease");
  await completes(scope, server.client, "before");
  return { server, manager, ca, serverConfig, folder };
}

function writeKubeconfig(folder: string, server: string, ca: Certificate, user: object): string {
  const file = path.join(folder, "kubeconfig");
  const config = {
    clusters: [
      { name: "c", cluster: { server, "certificate-authority-data": Buffer.from(ca.cert).toString("base64") } },
    ],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Prevents a busy machine from losing its lease. */
const LONG_LEASE = ["--leader-elect-lease-duration=90s", "--leader-elect-renew-deadline=80s"];
const LEASE_TROUBLE = '"Failed to acquire or renew lease"';
/**
 * Log lines that are unrelated to the outage:
 *
 * - missing delegated authentication at startup
 * - a sync before its cache was current
 * - a garbage collector that waits for its caches on a slow machine
 */
const UNRELATED =
  /"No auth(entication|orization)-kubeconfig provided|is not as new as written version|not all resource monitors could be synced/;

const POLL_MS = 20;

const LONGEST_WAIT_MS = 90_000;

async function until(condition: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const deadlineMs = realClock.monotonic() + LONGEST_WAIT_MS;
  while (!(await condition())) {
    if (realClock.monotonic() > deadlineMs) throw new Error(`waited in vain for ${what()}`);
    await realClock.sleep(POLL_MS);
  }
}

function waitForLine({ lines }: InProcessManager, text: string): Promise<void> {
  return until(
    () => lines.some((line) => line.includes(text)),
    () => `${JSON.stringify(text)}; it said:\n${lines.slice(-30).join("\n")}`,
  );
}

/** Checks that a new Job completes. */
async function completes(scope: Scope, client: Client, name: string): Promise<void> {
  runPods(scope, client, 0);
  await client.resource(jobs).create(job(name, { completions: 2, parallelism: 2 }));
  expect((await jobWithCondition(client, name, "Complete")).status?.succeeded).toBe(2);
}

/** Returns the log messages about an outage in short form. Other warnings and errors are returned unchanged. */
function outageMessages({ lines }: InProcessManager): string[] {
  const said = lines
    .filter((line) => (/^[WE]/.test(line) && !UNRELATED.test(line)) || line.includes(REACHABLE))
    .map((line) => {
      if (line.includes(REACHABLE)) return "back";
      if (line.includes(UNREACHABLE)) return line.includes("(401)") ? "refused" : "away";
      return line.includes(LEASE_TROUBLE) ? "lease" : line;
    });
  // The Lease has its own log line for each kind of error, if a renewal was due in the meantime.
  const kinds = said.filter((line) => line === "away" || line === "refused").length;
  const leases = said.filter((line) => line === "lease").length;
  return leases > kinds ? said : said.filter((line) => line !== "lease");
}

describe.concurrent("the manager recovers by itself, and says so once,", () => {
  test("when the API server is stopped and started again", async (scope) => {
    const { server, manager, serverConfig } = await setUp(scope);
    const restore = server.current.snapshot();
    await server.stop();
    await server.dropConnections(8);
    await server.start({ ...serverConfig, restore });
    await completes(scope, server.client, "after");
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "back"]);
  });

  test("when history was compacted while it was away, so that its watches are too old (410)", async (scope) => {
    const { server, manager, serverConfig } = await setUp(scope);
    const restore = server.current.snapshot();
    await server.stop();
    await server.dropConnections(3);
    await server.start({ ...serverConfig, restore }, async (next) => {
      const client = new Client({ transport: next.transport, clock: realClock });
      await client.resource(jobs).create(job("meanwhile", { completions: 2, parallelism: 2 }));
      next.compact();
    });
    runPods(scope, server.client, 0);
    expect((await jobWithCondition(server.client, "meanwhile", "Complete")).status?.succeeded).toBe(2);
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "back"]);
  });

  test("when a backup is restored, with resourceVersions beyond all that were seen, as etcd's documentation says", async (scope) => {
    const { server, manager, serverConfig } = await setUp(scope);
    const backup = structuredClone(server.current.snapshot());
    await completes(scope, server.client, "forgotten");
    await server.stop();
    await server.dropConnections(3);
    const restore = { ...backup, resourceVersion: String(Number(backup.resourceVersion) + 1_000_000) };
    await server.start({ ...serverConfig, restore }, async (next) => next.compact());
    await completes(scope, server.client, "after");
    await completes(scope, server.client, "forgotten");
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "back"]);
  });

  test("when the API server's certificate is replaced, for a while by one of another authority", async (scope) => {
    const { server, manager, ca, serverConfig } = await setUp(scope);
    const restore = server.current.snapshot();
    await server.stop();
    await server.start({ ...serverConfig, restore, tls: await sign(await makeAuthority("other"), "impostor") });
    await waitForLine(manager, "unable to verify the first certificate");
    const kept = server.current.snapshot();
    await server.stop();
    await server.start({ ...serverConfig, restore: kept, tls: await sign(ca, "kube-apiserver, renewed") });
    await completes(scope, server.client, "after");
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "back"]);
  });

  test("when the old token is refused before its token file holds the new one", async (scope) => {
    const tokenFile = { user: { tokenFile: "token" }, files: { token: TOKEN } };
    const { server, manager, serverConfig, folder } = await setUp(scope, tokenFile);
    const restore = server.current.snapshot();
    await server.stop();
    await server.dropConnections(3);
    await server.start({ ...serverConfig, restore, tokens: ["second"] });
    await waitForLine(manager, "401");
    writeFileSync(path.join(folder, "token"), "second\n");
    await completes(scope, server.client, "after");
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "refused", "back"]);
  });

  test("when its client certificate is refused before its files hold the new one", async (scope) => {
    const [first, second] = [await makeAuthority("clients"), await makeAuthority("clients, renewed")];
    const files = async (ca: Certificate): Promise<Record<string, string>> => {
      const { cert, key } = await sign(ca, "manager", "system:masters");
      return { "client.crt": cert, "client.key": key };
    };
    const user = { "client-certificate": "client.crt", "client-key": "client.key" };
    const stageOptions = { user, files: await files(first), clientCA: first.cert };
    const { server, manager, serverConfig, folder } = await setUp(scope, stageOptions);
    const restore = server.current.snapshot();
    await server.stop();
    await server.dropConnections(3);
    await server.start({ ...serverConfig, restore, tls: { ...serverConfig.tls, clientCA: second.cert } });
    await waitForLine(manager, "401");
    for (const [name, text] of Object.entries(await files(second))) writeFileSync(path.join(folder, name), text);
    await completes(scope, server.client, "after");
    await waitForLine(manager, REACHABLE);
    expect(outageMessages(manager)).toEqual(["away", "refused", "back"]);
  });
});

describe.concurrent("without a word", () => {
  test("a leader whose clock is set an hour forward or back stays leader, and its standby waits", async (scope) => {
    const cluster = await startCluster(scope);
    runPods(scope, cluster.client, 0);
    const flags = [
      `--master=${cluster.url}`,
      "--leader-elect-lease-duration=15s",
      "--leader-elect-renew-deadline=12s",
      "--leader-elect-retry-period=200ms",
    ];
    let stepMs = 0;
    const stepped: Clock = { ...methodsOf(realClock), now: () => realClock.now() + stepMs };
    const leader = runManager(scope, 1, flags, stepped);
    await waitForLine(leader, "Successfully acquired lease");
    const standby = runManager(scope, 2, flags);
    await waitForLine(standby, "Attempting to acquire leader lease");
    const before = leader.lines.length;
    for (const hours of [1, -1, 0]) {
      stepMs = hours * 3_600_000;
      await renewed(cluster.client, 6);
      await cluster.client.resource(jobs).create(job(`at-${hours + 1}`, { completions: 2, parallelism: 2 }));
      await jobWithCondition(cluster.client, `at-${hours + 1}`, "Complete");
    }
    expect(standby.lines.join("\n")).not.toContain("Successfully acquired lease");
    expect(leader.lines.slice(before).filter((line) => !UNRELATED.test(line))).toEqual([]);
  });

  test("the manager ends within seconds of SIGTERM, and is ready as soon after its first word", async (scope) => {
    const cluster = await startCluster(scope);
    const readySeconds: number[] = [];
    const goneSeconds: number[] = [];
    for (let round = 0; round < 3; round++) {
      const port = await freePort();
      const manager = startManager(scope, [`--master=${cluster.url}`, `--secure-port=${port}`]);
      // Waits for the first log line, to exclude the time to load the program.
      await manager.logged("]");
      const begin = realClock.monotonic();
      const ready = (): Promise<boolean> =>
        sendRequest(port, "/readyz").then(
          ({ status }) => status === 200,
          () => false,
        );
      await until(ready, () => `readiness:\n${manager.stderr}`);
      await manager.logged("Successfully acquired lease");
      await until(ready, () => `readiness:\n${manager.stderr}`);
      readySeconds.push((realClock.monotonic() - begin) / 1_000);
      const outageMessages = realClock.monotonic();
      manager.kill("SIGTERM");
      expect(await manager.exit).toEqual({ code: 0, signal: null });
      goneSeconds.push((realClock.monotonic() - outageMessages) / 1_000);
    }
    const show = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(", ");
    console.log(`ready ${show(readySeconds)} s after its first word, gone ${show(goneSeconds)} s after SIGTERM`);
    expect(Math.min(...readySeconds)).toBeLessThan(10);
    expect(Math.min(...goneSeconds)).toBeLessThan(5);
  });
});

function methodsOf(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (...given) => clock.setTimer(...given),
    sleep: (...given) => clock.sleep(...given),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
    keepAlive: () => clock.keepAlive(),
  };
}

/** Resolves when the Lease has been written `times` times. */
async function renewed(client: Client, times: number): Promise<void> {
  let last = "";
  for (let seen = -1; seen < times; await realClock.sleep(20)) {
    const { metadata } = await client
      .resource(leases)
      .get("kubewright-controller-manager", { namespace: "kube-system" });
    if (metadata.resourceVersion === last) continue;
    last = metadata.resourceVersion!;
    seen++;
  }
}
