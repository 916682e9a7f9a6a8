import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { events, jobs, leases, pods } from "@kubewright/api";
import { realClock } from "@kubewright/clock";
import { describe, expect, test } from "vitest";

import { type ManagerProcess, startManager } from "./manager-process.js";
import { startProxy } from "./proxy.js";
import { type TestCluster, job, jobWithCondition, runPods, startCluster } from "./test-cluster.js";

const PROGRAM = "kubewright-controller-manager";
const SHORT_LEASE = [
  "--leader-elect-lease-duration=3s",
  "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=500ms",
];
/** A busy machine does not lose this Lease. The Lease of the leader determines how long a standby waits. */
const LONG_LEASE = [
  "--leader-elect-lease-duration=90s",
  "--leader-elect-renew-deadline=80s",
  "--leader-elect-retry-period=500ms",
];
/** A candidate that only polls leads up to a minute later than one that watches. */
const SELDOM = [
  "--leader-elect-lease-duration=180s",
  "--leader-elect-renew-deadline=170s",
  "--leader-elect-retry-period=60s",
];

async function ended(manager: ManagerProcess): Promise<{ code: number | null; stdout: string; lines: string[] }> {
  const { code } = await manager.exit;
  return { code, stdout: manager.stdout, lines: manager.stderr.split("\n").slice(0, -1) };
}

async function leaseHolder({ client }: TestCluster): Promise<string | undefined> {
  return (await client.resource(leases).get(PROGRAM, { namespace: "kube-system" })).spec?.holderIdentity;
}

describe.concurrent("the command", () => {
  test.for([
    { args: ["--nope"], message: "unknown flag: --nope" },
    { args: ["--controllers=*,nope"], message: '"nope" is not in the list of known controllers' },
    { args: ["start"], message: `"${PROGRAM}" does not take any arguments, got ["start"]` },
    {
      args: ["--kube-api-burst=abc"],
      message: 'invalid argument "abc" for "--kube-api-burst" flag: strconv.ParseInt: parsing "abc": invalid syntax',
    },
  ])("answers wrong usage $args with one line and status 2", async ({ args, message }, scope) => {
    expect(await ended(startManager(scope, args))).toEqual({ code: 2, stdout: "", lines: [`${PROGRAM}: ${message}`] });
  });

  test("prints help and version to standard output", async (scope) => {
    const help = await ended(startManager(scope, ["--help"]));
    expect([help.code, help.lines]).toEqual([0, []]);
    expect(help.stdout).toContain("Examples:");
    const version = await ended(startManager(scope, ["--version"]));
    expect([version.code, version.lines]).toEqual([0, []]);
    expect(version.stdout).toMatch(/^kubewright-controller-manager v\d+\.\d+\.\d+ \(Kubernetes v1\.36\)\n$/);
  });

  test("answers a kubeconfig that is not there with one line and status 1", async (scope) => {
    const { code, lines } = await ended(startManager(scope, ["--kubeconfig=/no/such/file"]));
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^E.*"command failed" err="error loading config file \\"\/no\/such\/file\\": no such file or directory"$/,
    );
  });

  test("without any configuration says what it tried", async (scope) => {
    const { code, lines } = await ended(startManager(scope, []));
    expect(code).toBe(1);
    expect(lines.map((line) => line.replace(/^(.).*?\] /, "$1 "))).toEqual([
      'W "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work."',
      'W "error creating inClusterConfig, falling back to default config: unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"',
      'E "command failed" err="invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"',
    ]);
  });

  test("gives an unreachable API server ten seconds, then ends with status 1", async (scope) => {
    const { code, lines } = await ended(startManager(scope, ["--master=http://127.0.0.1:1", "--leader-elect=false"]));
    expect(code).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(
      '"command failed" err="failed to wait for apiserver being healthy: timed out waiting for the condition: ',
    );
    expect(lines[1]).toContain("GET http://127.0.0.1:1/healthz: connect ECONNREFUSED 127.0.0.1:1");
  });
});

describe.concurrent("a running manager", () => {
  test("runs Jobs, identifies itself in its user agents, and releases the Lease when it is stopped", async (scope) => {
    const cluster = await startCluster(scope);
    runPods(scope, cluster.client, 50);
    const agents = new Set<string>();
    const url = await startProxy(scope, cluster.url, { before: ({ userAgent }) => void agents.add(userAgent) });
    const manager = startManager(scope, [`--master=${url}`, "--logging-format=json"]);
    await cluster.client.resource(jobs).create(job("pi", { completions: 2, parallelism: 2 }));
    await jobWithCondition(cluster.client, "pi", "Complete");
    expect(await leaseHolder(cluster)).not.toBe("");
    manager.kill("SIGTERM");
    expect((await ended(manager)).code).toBe(0);
    expect(await leaseHolder(cluster)).toBe("");

    for (const name of ["shared-informers", "job-controller", "leader-election", "kube-controller-manager"]) {
      expect([...agents]).toContainEqual(
        expect.stringMatching(new RegExp(`^${PROGRAM}/v\\S+ \\(\\w+/\\w+\\) kubernetes/v1\\.36/${name}$`)),
      );
    }
    for (const line of manager.stderr.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ ts: expect.any(Number) });
    const { items } = await cluster.client.resource(events).list();
    expect(items.map(({ reason = "" }) => reason).sort((a, b) => a.localeCompare(b))).toEqual([
      "Completed",
      "LeaderElection",
      "LeaderElection",
      "SuccessfulCreate",
      "SuccessfulCreate",
    ]);
  });

  test("when it is stopped, it finishes requests in flight and writes its events", async (scope) => {
    const cluster = await startCluster(scope);
    const held = Promise.withResolvers<void>();
    const url = await startProxy(scope, cluster.url, {
      after: ({ method, path }) => {
        if (method !== "POST" || !path.endsWith("/pods")) return;
        manager.kill("SIGTERM");
        held.resolve();
      },
    });
    const manager = startManager(scope, [`--master=${url}`, "--leader-elect=false"]);
    await cluster.client.resource(jobs).create(job("last", { completions: 1, parallelism: 1 }));
    await held.promise;
    expect((await ended(manager)).code).toBe(0);
    expect((await cluster.client.resource(pods).list({ namespace: "default" })).items).toHaveLength(1);
    expect((await cluster.client.resource(events).list()).items.map(({ reason }) => reason)).toEqual([
      "SuccessfulCreate",
    ]);
  });

  test("when a request never ends, it gives up after the shutdown timeout and keeps the Lease", async (scope) => {
    const cluster = await startCluster(scope);
    const held = Promise.withResolvers<void>();
    const url = await startProxy(scope, cluster.url, {
      before: ({ method, path }) => (method === "POST" && path.endsWith("/pods") ? (held.resolve(), false) : undefined),
    });
    const manager = startManager(scope, [`--master=${url}`, "--controller-shutdown-timeout=500ms"]);
    await cluster.client.resource(jobs).create(job("stuck", { completions: 1, parallelism: 1 }));
    await held.promise;
    manager.kill("SIGTERM");
    const { code, lines } = await ended(manager);
    expect(code).toBe(1);
    expect(lines.at(-1)).toContain('"command failed" err="controller shutdown timeout reached"');
    expect(manager.stderr).toContain("job-controller: reconciling default/stuck did not end within 0.4 s");
    expect(await leaseHolder(cluster)).not.toBe("");
  });

  test("a second signal ends it at once", async (scope) => {
    const cluster = await startCluster(scope);
    const held = Promise.withResolvers<void>();
    const url = await startProxy(scope, cluster.url, {
      before: ({ method, path }) => (method === "POST" && path.endsWith("/pods") ? (held.resolve(), false) : undefined),
    });
    const manager = startManager(scope, [`--master=${url}`, "--leader-elect=false", "--controller-shutdown-timeout=0"]);
    await cluster.client.resource(jobs).create(job("stuck", { completions: 1, parallelism: 1 }));
    await held.promise;
    manager.kill("SIGINT");
    await realClock.sleep(200);
    manager.kill("SIGTERM");
    expect((await ended(manager)).code).toBe(1);
  });

  test("without controllers it holds the Lease and waits to be stopped", async (scope) => {
    const cluster = await startCluster(scope);
    const manager = startManager(scope, [`--master=${cluster.url}`, "--controllers="]);
    await manager.logged('"Warning: controller is disabled" controller="cronjob-controller"');
    manager.kill("SIGTERM");
    expect((await ended(manager)).code).toBe(0);
  });

  test("a standby takes over from a leader that was killed, and the Job continues", async (scope) => {
    const cluster = await startCluster(scope);
    const leader = startManager(scope, [`--master=${cluster.url}`, ...SHORT_LEASE]);
    await leader.logged("Successfully acquired lease");
    const standby = startManager(scope, [`--master=${cluster.url}`, ...LONG_LEASE]);
    await standby.logged("Attempting to acquire leader lease...");
    await cluster.client.resource(jobs).create(job("pi", { completions: 2, parallelism: 2 }));
    await scope.expect.poll(async () => (await cluster.client.resource(pods).list()).items.length).toBe(2);
    leader.kill("SIGKILL");
    runPods(scope, cluster.client, 0);
    const finished = await jobWithCondition(cluster.client, "pi", "Complete");
    expect(finished.status?.succeeded).toBe(2);
    expect(standby.stderr).toContain("Successfully acquired lease");
  });

  test("a leader that cannot renew its Lease ends with status 1", async (scope) => {
    const cluster = await startCluster(scope);
    let cut = false;
    const url = await startProxy(scope, cluster.url, { before: ({ path }) => !(cut && path.includes("/leases")) });
    const manager = startManager(scope, [`--master=${url}`, ...SHORT_LEASE]);
    await manager.logged("Successfully acquired lease");
    cut = true;
    const { code, lines } = await ended(manager);
    expect(code).toBe(1);
    expect(lines.join("\n")).toContain('"command failed" err="leaderelection lost/stopped"');
  });

  test("beside a live kube-controller-manager it ends with status 2 and a line that says what to do", async (scope) => {
    const cluster = await startCluster(scope);
    const renewTime = new Date(realClock.now()).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "node-1_abc", leaseDurationSeconds: 600, renewTime };
    await cluster.client
      .resource(leases)
      .create({ metadata: { name: "kube-controller-manager", namespace: "kube-system" }, spec });
    const { code, lines } = await ended(startManager(scope, [`--master=${cluster.url}`]));
    expect(code).toBe(2);
    expect(lines.at(-1)).toMatch(
      /^kubewright-controller-manager: kube-controller-manager is running \(node-1_abc holds lease .*--managed-by NAME.*--take-over$/,
    );
    const beside = startManager(scope, [`--master=${cluster.url}`, "--managed-by=acme.io/jobs"]);
    await beside.logged("Successfully acquired lease");
    await beside.logged("Starting job controller");
    beside.kill("SIGTERM");
    expect((await ended(beside)).code).toBe(0);
  });

  test("a standby that watches the Lease leads without polling when the leader is stopped", async (scope) => {
    const cluster = await startCluster(scope);
    const leader = startManager(scope, [`--master=${cluster.url}`, ...SELDOM]);
    await leader.logged("Successfully acquired lease");
    const watching = Promise.withResolvers<void>();
    const url = await startProxy(scope, cluster.url, {
      before: ({ path: asked }) => {
        if (asked.includes("/leases?watch=true")) watching.resolve();
      },
    });
    const standby = startManager(scope, [`--master=${url}`, ...SELDOM]);
    await watching.promise;
    leader.kill("SIGTERM");
    expect((await leader.exit).code).toBe(0);
    const releasedMs = realClock.monotonic();
    await standby.logged("Successfully acquired lease");
    expect(realClock.monotonic() - releasedMs).toBeLessThan(30_000);
  });

  test("switched to upstream's abrupt way, a signal kills it and the Lease keeps its holder", async (scope) => {
    const cluster = await startCluster(scope);
    const manager = startManager(scope, [
      `--master=${cluster.url}`,
      "--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=false",
    ]);
    await manager.logged("Successfully acquired lease");
    manager.kill("SIGTERM");
    expect(await manager.exit).toEqual({ code: null, signal: "SIGTERM" });
    expect(await leaseHolder(cluster)).not.toBe("");
  });

  test("says what it ignores, and takes its flags from a file", async (scope) => {
    const cluster = await startCluster(scope);
    const folder = await mkdtemp(path.join(tmpdir(), "kubewright-"));
    scope.onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, "config.yaml");
    await writeFile(file, `master: ${cluster.url}\ncontrollers: [job]\ncluster-cidr: 10.0.0.0/8\n`);
    const manager = startManager(scope, [`--config=${file}`, "--root-ca-file=/ca.crt"]);
    await manager.logged("Starting job controller");
    expect(manager.stderr).toContain(
      '"Ignoring flags of controllers that are not in this binary" flags=["cluster-cidr","root-ca-file"]',
    );
    await writeFile(file, "master: x\nnope: 1\n");
    const { code, lines } = await ended(startManager(scope, [`--config=${file}`]));
    expect([code, lines]).toEqual([2, [`${PROGRAM}: ${file}:2: unknown key "nope"`]]);
  });
});
