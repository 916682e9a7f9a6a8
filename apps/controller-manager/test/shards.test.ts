import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { type ClusterRole, namespaces } from "@kubewright/api";
import { describe, expect, test } from "vitest";

import { whyKubectlIsMissing } from "../../../packages/cluster/test/kubectl-fixture.js";
import { createFreeAssignment } from "./free-assignment.js";
import { type RbacCluster, MONITORING, startRbacCluster } from "./rbac-cluster.js";
import { sendRequest, bearer } from "./https-client.js";
import { type InProcessManager, runManager } from "./manager-in-process.js";
import type { Scope } from "./scope.js";

/** No test here waits for the end of a lease. */
const LEASE = ["--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=60s"];
const BUCKETS = 65;
const PATIENCE = { timeout: 90_000 };

interface Shards {
  readonly identity: string;
  readonly members: readonly string[];
  readonly problem?: string;
  readonly buckets: readonly { name: string; owner: string; epoch: number; state?: string; namespaces: number }[];
}

interface Replica {
  readonly manager: InProcessManager;
  readonly port: number;
  readonly shards: () => Promise<Shards>;
  /** Sums of a metric's series by the value of a label. */
  readonly sums: (metric: string, label?: string) => Promise<Readonly<Record<string, number>>>;
}

async function startReplica(scope: Scope, cluster: RbacCluster, seed: number): Promise<Replica> {
  const kubeconfig = await cluster.kubeconfig("admin");
  const manager = runManager(scope, seed, [
    "--sharding=namespaces",
    "--take-over",
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    ...LEASE,
  ]);
  const port = await manager.port;
  return {
    manager,
    port,
    shards: async () => JSON.parse((await sendRequest(port, "/shards", bearer("admin"))).body) as Shards,
    sums: async (metric, label) => {
      const sums: Record<string, number> = {};
      for (const line of (await sendRequest(port, "/metrics", bearer("admin"))).body.split("\n")) {
        const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
        if (name !== metric) continue;
        const key = label === undefined ? "" : (new RegExp(`${label}="([^"]*)"`).exec(labels)?.[1] ?? "");
        sums[key] = (sums[key] ?? 0) + Number(value);
      }
      return sums;
    },
  };
}

const activeOf = async ({ shards }: Replica): Promise<number> => {
  // The path does not exist before the manager has found the API server.
  const found = await shards().catch(() => undefined);
  return found?.buckets.filter(({ state }) => state === "active").length ?? 0;
};

describe("replicas that share", () => {
  test("report bucket owners over HTTP, and measure acquired and released buckets", async (scope) => {
    const cluster = await startRbacCluster(scope);
    for (const name of ["ns-a", "ns-b"]) await cluster.client.resource(namespaces).create({ metadata: { name } });
    await createFreeAssignment(cluster.client);
    const first = await startReplica(scope, cluster, 1);
    await expect.poll(() => activeOf(first), PATIENCE).toBe(BUCKETS);
    const second = await startReplica(scope, cluster, 2);
    await expect.poll(async () => (await first.shards()).members.length, PATIENCE).toBe(2);

    const shards = await first.shards();
    expect(shards.identity).toMatch(/^host-1-[0-9a-f]{8}$/);
    expect(shards.members[0]).toBe(shards.identity);
    expect(shards.members[1]).toMatch(/^host-2-[0-9a-f]{8}$/);
    expect(shards.problem).toBeUndefined();
    expect(shards.buckets.map(({ name }) => name).filter((name) => !/^\d\d$/.test(name))).toEqual(["cluster"]);
    // The hash of a name never changes.
    const at = (name: string) => shards.buckets.find((bucket) => bucket.name === name);
    const own = { owner: shards.identity, epoch: 1, state: "active" };
    expect([at("45"), at("50"), at("00")]).toEqual([
      { name: "45", ...own, namespaces: 1 },
      { name: "50", ...own, namespaces: 1 },
      { name: "00", ...own, namespaces: 0 },
    ]);

    expect(await first.sums("kubewright_shard_members")).toEqual({ "": 2 });
    expect(await first.sums("kubewright_shard_bucket_owner")).toEqual({ "": BUCKETS });
    expect(await first.sums("kubewright_shard_handoffs_total", "reason")).toEqual({ free: BUCKETS });
    expect(await first.sums("kubewright_shard_takeover_duration_seconds_count")).toEqual({ "": BUCKETS });
    expect(await first.sums("kubewright_shard_fenced_writes_total")).toEqual({});

    first.manager.stop();
    expect(await first.manager.status).toBe(0);
    await expect.poll(() => activeOf(second), PATIENCE).toBe(BUCKETS);
    const after = await second.shards();
    expect(after.members).toEqual([after.identity]);
    expect(new Set(after.buckets.map(({ owner, epoch }) => `${owner} ${epoch}`))).toEqual(
      new Set([`${after.identity} 2`]),
    );
    expect(await second.sums("kubewright_shard_handoffs_total", "reason")).toEqual({ free: BUCKETS });
    await expect.poll(() => second.sums("kubewright_shard_members"), PATIENCE).toEqual({ "": 1 });
  });

  test.skipIf(whyKubectlIsMissing !== undefined)(
    "are listed by kubectl, with what they call themselves",
    async (scope) => {
      const cluster = await startRbacCluster(scope);
      await createFreeAssignment(cluster.client);
      const replicas = [await startReplica(scope, cluster, 1), await startReplica(scope, cluster, 2)];
      // The manager sends no token to a server without TLS.
      await cluster.allow("system:anonymous", [
        { nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*"], verbs: ["get"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list"] },
      ]);
      const membersOf = async ({ shards }: Replica): Promise<readonly string[]> =>
        (await shards().catch(() => undefined))?.members ?? [];
      await expect.poll(async () => (await membersOf(replicas[1]!)).length, PATIENCE).toBe(2);
      const members = await membersOf(replicas[1]!);
      expect(await listedMembers(await cluster.kubeconfig("admin"))).toEqual([
        ["NAME", "HOLDER"],
        ...members.map((member) => [`kubewright-member-${member}`, member]),
      ]);
    },
  );

  test("report it to clients that may get the path, and to no others", async (scope) => {
    const cluster = await startRbacCluster(scope);
    await createFreeAssignment(cluster.client);
    const rules: ClusterRole["rules"] = [{ nonResourceURLs: ["/shards"], verbs: ["get"] }];
    await cluster.allow("prometheus", MONITORING);
    await cluster.allow("manager", rules);
    const { port, ...replica } = await startReplica(scope, cluster, 1);
    await expect.poll(() => activeOf({ port, ...replica }), PATIENCE).toBe(BUCKETS);
    const statusFor = async (...user: string[]): Promise<number> =>
      (await sendRequest(port, "/shards", user[0] === undefined ? {} : bearer(user[0]))).status;
    expect([await statusFor("manager"), await statusFor("prometheus"), await statusFor()]).toEqual([200, 403, 403]);
  });
});

/** Returns kubectl's output for the members, without their age. */
async function listedMembers(kubeconfig: string): Promise<string[][]> {
  const kubectl = process.env["KUBECTL"] ?? "kubectl";
  const selected = ["get", "leases", "-n", "kube-system", "-l", "kubewright.dev/group=kubewright"];
  const { stdout } = await promisify(execFile)(kubectl, ["--kubeconfig", kubeconfig, ...selected]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ +/).slice(0, 2));
}
