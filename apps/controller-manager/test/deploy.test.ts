import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import {
  type CronJob,
  type Job,
  type Pod,
  type Role,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  cronJobs,
  jobs,
  namespaces,
  nodes,
  pods,
  roleBindings,
  roles,
} from "@kubewright/api";
import type { AuditRecord } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { type Client, isAlreadyExists } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { type ClusterOptions, createCluster } from "@kubewright/cluster";
import { describe, expect, test, vi } from "vitest";

import { freePort } from "../../../conformance/free-port.ts";
import { parseCommandLine } from "../src/command-line.js";
import { type Overlay, readOverlay } from "./deploy-manifests.js";
import { type ManagerProcess, startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";

const OVERLAYS = ["whole-cluster", "managed-by", "namespaced", "sharded"];
const USER = (namespace: string): string => `system:serviceaccount:${namespace}:kubewright-controller-manager`;

/** The first sharded replica waits for one lease duration. */
const SHORT_LEASES = [
  "--leader-elect-lease-duration=8s",
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=1s",
];

/** Required only by an admission plugin that the embedded API server does not have. */
const NOT_CHECKED_BY_TEST_SERVER = /^update [\w.]+\/\w+\/finalizers /;

describe.each(OVERLAYS)("deploy/overlays/%s", (name) => {
  const overlay = readOverlay(name);

  test("starts the manager with flags it knows", () => {
    expect(parseCommandLine(overlay.args, { version: "0.0.0", readFile: () => "" })).toMatchObject({ command: "run" });
  });

  test("grants what the manager needs, and nothing that it does not use", async (scope) => {
    const { managers, granted, used, refused } = await runWithOverlay(scope, overlay);
    const unused = (): string[] =>
      granted.filter((right) => !NOT_CHECKED_BY_TEST_SERVER.test(right) && !used.has(right));
    const said = (): string => managers.map(({ stderr }) => stderr).join("\n");
    await vi.waitFor(() => expect(unused(), said()).toEqual([]), { timeout: 120_000, interval: 200 });
    expect(refused).toEqual([]);
    for (const manager of managers) manager.kill("SIGTERM");
    for (const manager of managers) expect(await manager.exit).toEqual({ code: 0, signal: null });
    expect(refused).toEqual([]);
  });
});

const kubectl = kubectlVersion();
test.skipIf(kubectl === undefined).each(OVERLAYS)("kubectl can build deploy/overlays/%s", (name) => {
  const folder = fileURLToPath(new URL(`../../../deploy/overlays/${name}`, import.meta.url));
  const built = execFileSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
  expect(built).toContain("kind: Deployment");
  const { namespace } = readOverlay(name);
  const subjects = [...built.matchAll(/kind: ServiceAccount\n +name: (.*)\n +namespace: (.*)/g)];
  expect(subjects.length).toBeGreaterThan(1);
  for (const [, account, where] of subjects)
    expect([account, where]).toEqual(["kubewright-controller-manager", namespace]);
});

function kubectlVersion(): string | undefined {
  try {
    return execFileSync("kubectl", ["version", "--client"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    console.warn("SKIPPED: building the kustomize overlays: there is no kubectl on PATH");
    return undefined;
  }
}

interface ManagerRun {
  /** A leader and a standby, or several sharded replicas. */
  readonly managers: readonly ManagerProcess[];
  /** `verb group/resource name namespace` for each permission that the overlay grants. */
  readonly granted: readonly string[];
  /** The granted permissions that a request of the manager used. */
  readonly used: ReadonlySet<string>;
  /** Forbidden requests of the manager. */
  readonly refused: readonly string[];
}

/** Runs an overlay's manager, with exactly its permissions, in a cluster with work for all its controllers. */
async function runWithOverlay(scope: Scope, overlay: Overlay): Promise<ManagerRun> {
  const username = USER(overlay.namespace);
  const cluster = createCluster({
    clock: realClock,
    random: seededRandom(1),
    controllers: [],
    authorization: "RBAC",
    intercept: refuseFirstStream(),
    authentication: {
      tokens: {
        manager: { username, groups: ["system:serviceaccounts", `system:serviceaccounts:${overlay.namespace}`] },
        prometheus: { username: "prometheus", groups: [] },
      },
    },
  });
  const granted = overlay.roles.flatMap(rightsOf);
  const used = new Set<string>();
  const refused: string[] = [];
  cluster.apiServer.observe((record) => {
    if (record.user !== username) return;
    if (record.code === 403) refused.push(`${record.verb} ${record.path}`);
    for (const right of granted) if (!used.has(right) && covers(right, record)) used.add(right);
  });
  const listener = await listen(cluster.apiServer, { port: 0 });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-deploy-"));
  scope.onTestFinished(async () => {
    stop.abort();
    await running;
    await cluster.apiServer.close();
    await rm(folder, { recursive: true });
  });
  await cluster.ready();
  const client = cluster.client("test");
  await grant(client, overlay);
  const kubeconfig = path.join(folder, "kubeconfig");
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: listener.url } }],
      users: [{ name: "u", user: { token: "manager" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const start = (port: number): ManagerProcess =>
    startManager(scope, [
      ...overlay.args,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      "--podgc-period=1s",
      "--podgc-quarantine=1s",
      ...(overlay.args.includes("--sharding=namespaces") ? SHORT_LEASES : []),
    ]);
  const ports = [await freePort(), await freePort()] as const;
  const managers = [start(ports[0]), start(ports[1])];
  if (overlay.args.includes("--sharding=namespaces")) {
    // A replica deletes its Lease when it stops.
    const leaving = start(await freePort());
    managers.push(leaving);
    const stop = (): void => leaving.kill("SIGTERM");
    leaving.logged("Working for a bucket").then(stop, stop);
  }
  void runWorkload(client, overlay, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) refused.push(`the workload failed: ${String(error)}`);
  });
  void scrape(ports[0], stop.signal);
  return { managers, granted, used, refused };
}

/** Reads `/metrics` with a bearer token, as Prometheus does. The manager must authenticate and authorize the client. */
async function scrape(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const options = {
      port,
      path: "/metrics",
      rejectUnauthorized: false,
      headers: { authorization: "Bearer prometheus" },
    };
    await new Promise<void>((resolve) => {
      get(options, (response) => response.resume().once("close", resolve)).once("error", () => resolve());
    });
    await realClock.sleep(500, signal).catch(() => undefined);
  }
}

/**
 * Rejects each path's first watch with `sendInitialEvents`, as an older API server does, so that the manager falls back
 * to a list.
 */
function refuseFirstStream(): NonNullable<ClusterOptions["intercept"]> {
  const seen = new Set<string>();
  return ({ path: target, headers }) => {
    const [resource = ""] = target.split("?");
    const mine = String(headers["user-agent"]).startsWith("kubewright-controller-manager");
    if (!mine || !target.includes("sendInitialEvents=true") || seen.has(resource)) return undefined;
    seen.add(resource);
    const status = { apiVersion: "v1", kind: "Status", status: "Failure", code: 422, reason: "Invalid" };
    return { status: 422, headers: {}, body: { type: "decoded", value: status } };
  };
}

/** Returns each permission of a role separately. */
function rightsOf(role: Overlay["roles"][number]): string[] {
  return (role.rules ?? []).flatMap(({ apiGroups = [], resources = [], resourceNames = ["*"], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs.map((verb) => `${verb} ${group}/${resource} ${name} ${role.metadata.namespace ?? "*"}`),
        ),
      ),
    ),
  );
}

function covers(right: string, record: AuditRecord): boolean {
  const { verb, group, resource, subresource, namespace, code } = record;
  // A watch of one object has its name in a selector, which authorization also uses.
  const name = record.name || (/metadata\.name%3D([^&%]+)/.exec(record.path)?.[1] ?? "");
  const target = subresource === "" ? `${group}/${resource}` : `${group}/${resource}/${subresource}`;
  const [rightVerb, rightTarget, rightName, rightNamespace] = right.split(" ");
  return (
    code !== 403 &&
    rightVerb === verb &&
    (rightTarget === "*/*" || rightTarget === target) &&
    (rightName === "*" || rightName === name) &&
    (rightNamespace === "*" || rightNamespace === namespace)
  );
}

async function grant(client: Client, { roles: wanted, bindings, namespace }: Overlay): Promise<void> {
  for (const name of [namespace, "kube-system"]) {
    await client
      .resource(namespaces)
      .create({ metadata: { name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }
  // This role exists in every cluster.
  const reader: Role = {
    metadata: { name: "extension-apiserver-authentication-reader" },
    rules: [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["extension-apiserver-authentication"],
        verbs: ["get", "list", "watch"],
      },
    ],
  };
  await client.resource(roles).create(reader, { namespace: "kube-system" });
  for (const role of wanted) {
    if (role.kind === "ClusterRole") await client.resource(clusterRoles).create(role);
    else await client.resource(roles).create(role, { namespace: role.metadata.namespace! });
  }
  for (const binding of bindings) {
    const bound = { ...binding, subjects: binding.subjects!.map((subject) => ({ ...subject, namespace })) };
    if (binding.kind === "ClusterRoleBinding") await client.resource(clusterRoleBindings).create(bound);
    else await client.resource(roleBindings).create(bound, { namespace: binding.metadata.namespace! });
  }
}

const template = (annotations: Record<string, string> = {}): NonNullable<Job["spec"]>["template"] => ({
  metadata: { labels: { app: "deploy" }, annotations: { "sim.kubewright.dev/duration": "200ms", ...annotations } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] },
});

/**
 * Performs the actions of users and nodes until the signal aborts, so that every controller uses each of its
 * permissions.
 */
async function runWorkload(client: Client, overlay: Overlay, signal: AbortSignal): Promise<void> {
  const managedBy = overlay.args.find((arg) => arg.startsWith("--managed-by="))?.split("=")[1];
  const namespace = overlay.args.some((arg) => arg.startsWith("--namespace=")) ? overlay.namespace : "default";
  const at = { namespace };
  const job = (name: string, spec: Partial<NonNullable<Job["spec"]>> = {}): Job => ({
    metadata: { name },
    spec: { template: template(), ...(managedBy === undefined ? {} : { managedBy }), ...spec },
  });
  const cronJob: CronJob = {
    metadata: { name: "often" },
    spec: {
      schedule: "@every 1s",
      concurrencyPolicy: "Replace",
      jobTemplate: { spec: { template: template({ "sim.kubewright.dev/duration": "30s" }) } },
    },
  };
  await client.resource(cronJobs).create(cronJob, at);
  for (let round = 0; !signal.aborted; round++) {
    const name = (what: string): string => `${what}-${round}`;
    await client.resource(jobs).create(job(name("plain"), { ttlSecondsAfterFinished: 1 }), at);
    // Suspending deletes the pods of this Job.
    const long = template({ "sim.kubewright.dev/duration": "1h" });
    await client.resource(jobs).create(job(name("suspended"), { template: long }), at);
    await client.resource(jobs).create(job(name("orphaning"), { template: long }), at);
    // A pod that exists before its Job is adopted, after a live read of the Job.
    const labels = { adopt: name("me") };
    const pod: Pod = { metadata: { name: name("adopted"), labels }, spec: template().spec! };
    await client.resource(pods).create(pod, at);
    await client.resource(jobs).create(
      job(name("adopting"), {
        manualSelector: true,
        selector: { matchLabels: labels },
        template: { ...template(), metadata: { labels } },
      }),
      at,
    );
    // A pod on a deleted node.
    const lost = { ...template().spec!, nodeName: name("lost") };
    await client.resource(nodes).create({ metadata: { name: name("lost") } });
    await client.resource(pods).create({ metadata: { name: name("stranded") }, spec: lost }, at);
    await realClock.sleep(2_000, signal);
    await client.resource(nodes).delete(name("lost"));
    for (const suspend of [true, false, true]) {
      await client.resource(jobs).patch(name("suspended"), { type: "merge", body: { spec: { suspend } } }, at);
      await realClock.sleep(700, signal);
    }
    // Each propagation policy for the deletion of an owner.
    const { uid } = (await client.resource(jobs).get(name("suspended"), at)).metadata;
    const owned = {
      name: name("owned"),
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name: name("suspended"), uid: uid!, blockOwnerDeletion: true },
      ],
    };
    await client.resource(configMaps).create({ metadata: owned }, at);
    await client.resource(jobs).delete(name("orphaning"), { ...at, propagationPolicy: "Orphan" });
    await client.resource(jobs).delete(name("suspended"), { ...at, propagationPolicy: "Foreground" });
    await realClock.sleep(500, signal);
  }
}
