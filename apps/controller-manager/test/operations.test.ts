import { createServer } from "node:net";
import path from "node:path";

import { type DeepReadonly, type Pod, jobs, namespaces, pods } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import { describe, expect, test } from "vitest";

import { type RbacCluster, startRbacCluster } from "./rbac-cluster.js";
import { sendRequest, bearer } from "./https-client.js";
import { writeKubeconfig } from "./kubeconfig.js";
import { type InProcessManager, runManager } from "./manager-in-process.js";
import type { Scope } from "./scope.js";
import { scratchFolder } from "./launched-cluster.js";

async function startedManager(
  scope: Scope,
  cluster: RbacCluster,
  { seed = 1, args = [] }: { seed?: number; args?: readonly string[] } = {},
): Promise<{ manager: InProcessManager; port: number }> {
  const kubeconfig = await cluster.kubeconfig("admin");
  const manager = runManager(scope, seed, [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    ...args,
  ]);
  return { manager, port: await manager.port };
}

const statusOf = async (port: number, path: string): Promise<number> => (await sendRequest(port, path)).status;

async function series(port: number, start: string): Promise<string[]> {
  const { body } = await sendRequest(port, "/metrics", bearer("admin"));
  return body.split("\n").filter((line) => line.startsWith(start));
}

describe("a running manager", () => {
  test("case 53: after one Job with one pod every counter is exactly right", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const { port } = await startedManager(scope, cluster);
    await expect.poll(() => statusOf(port, "/readyz")).toBe(200);
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
    await cluster.client.resource(jobs).create({ metadata: { name: "pi", namespace: "default" }, spec: { template } });
    const created = 'action="pods_created",completion_mode="NonIndexed",result="success"';
    await expect
      .poll(() => series(port, 'job_controller_job_syncs_total{action="pods_created"'))
      .toEqual([`job_controller_job_syncs_total{${created}} 1`]);
    expect(await series(port, 'job_controller_job_sync_duration_seconds_count{action="pods_created"')).toEqual([
      `job_controller_job_sync_duration_seconds_count{${created}} 1`,
    ]);
    expect(await series(port, "job_controller_jobs_finished_total")).toEqual([]);

    await succeed(cluster, await onlyPod(cluster));
    await expect
      .poll(() => series(port, "job_controller_jobs_finished_total"))
      .toEqual([
        'job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"} 1',
      ]);
    // Both series are created by the first status write, as upstream.
    expect((await series(port, "job_controller_job_pods_finished_total")).sort()).toEqual([
      'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 0',
      'job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 1',
    ]);
    expect(await series(port, "job_controller_job_pods_creation_total")).toEqual([
      'job_controller_job_pods_creation_total{reason="new",status="succeeded"} 1',
    ]);
    expect((await series(port, "job_controller_job_syncs_total{")).filter((line) => line.includes('"error"'))).toEqual(
      [],
    );
    const tracked = "job_controller_terminated_pods_tracking_finalizer_total";
    await expect
      .poll(() => series(port, tracked))
      .toEqual([`${tracked}{event="add"} 1`, `${tracked}{event="delete"} 1`]);
    // All items of the job queue were processed, and none is left.
    const [adds] = await series(port, 'workqueue_adds_total{name="job"}');
    expect(Number(adds!.split(" ")[1])).toBeGreaterThanOrEqual(2);
    await expect.poll(() => series(port, 'workqueue_depth{name="job"}')).toEqual(['workqueue_depth{name="job"} 0']);
    const posts = await series(port, 'rest_client_requests_total{code="201"');
    expect(posts).toHaveLength(1);
    expect(posts[0]).toMatch(/host="127\.0\.0\.1:\d+",method="POST"/);
    expect(
      await series(
        port,
        'informer_store_resource_version{group="batch",name="kube-controller-manager",resource="jobs"',
      ),
    ).toHaveLength(1);
    expect(await series(port, "authenticated_user_requests")).toEqual([
      expect.stringMatching(/^authenticated_user_requests\{username="admin"\} \d+$/),
      expect.stringMatching(/^authenticated_user_requests\{username="other"\} \d+$/),
    ]);
    // The garbage collector's graph contains the pod's owner.
    const graph = "/debug/controllers/garbage-collector-controller/graph";
    await expect.poll(async () => (await sendRequest(port, graph, bearer("admin"))).body).toContain('kind="Pod"');
  });

  test("case 29: a standby is healthy and ready, and lists no controllers", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const leader = await startedManager(scope, cluster, { seed: 1 });
    await expect
      .poll(() => series(leader.port, "leader_election_master_status"))
      .toEqual(['leader_election_master_status{name="kubewright-controller-manager"} 1']);
    const standby = await startedManager(scope, cluster, { seed: 2 });
    await expect.poll(() => statusOf(standby.port, "/readyz")).toBe(200);
    expect((await sendRequest(standby.port, "/healthz?verbose")).body).toBe(
      "[+]leaderElection ok\nhealthz check passed\n",
    );
    expect(await series(standby.port, "leader_election_master_status")).toEqual([
      'leader_election_master_status{name="kubewright-controller-manager"} 0',
    ]);
    expect(await series(standby.port, "workqueue_")).toEqual([]);
    expect(await series(standby.port, "informer_")).toEqual([]);
    leader.manager.stop();
    expect(await leader.manager.status).toBe(0);
    await expect.poll(() => series(standby.port, "workqueue_depth")).toContain('workqueue_depth{name="job"} 0');
    await expect.poll(() => statusOf(standby.port, "/readyz")).toBe(200);
    const verbose = (await sendRequest(standby.port, "/healthz?verbose")).body;
    expect(verbose).toContain("[+]leaderElection ok\n[+]cronjob-controller ok\n[+]garbage-collector-controller ok\n");
  });

  test("without leader election only the controllers are checked, and no lease is reported", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const { port } = await startedManager(scope, cluster, { args: ["--leader-elect=false", "--controllers=podgc"] });
    await expect.poll(() => statusOf(port, "/readyz")).toBe(200);
    expect((await sendRequest(port, "/healthz?verbose")).body).toBe(
      "[+]pod-garbage-collector-controller ok\nhealthz check passed\n",
    );
    expect(await series(port, "leader_election_master_status")).toEqual([]);
    expect(await series(port, "workqueue_")).toEqual([]);
  });

  test("with several namespaces, queues are shown as one, and each one's caches apart", async (scope) => {
    const cluster = await startRbacCluster(scope);
    for (const name of ["a", "b"]) await cluster.client.resource(namespaces).create({ metadata: { name } });
    const { port } = await startedManager(scope, cluster, { args: ["--namespace=a,b", "--controllers=job"] });
    await expect.poll(() => statusOf(port, "/readyz")).toBe(200);
    const named = async (start: string): Promise<unknown> =>
      (await series(port, start)).map((line) => /(?<=[{,]name=")[^"]*/.exec(line)?.[0]);
    expect(await named('informer_store_resource_version{group="batch"')).toEqual([
      "kube-controller-manager/a",
      "kube-controller-manager/b",
    ]);
    expect(await named("workqueue_depth{")).toEqual(["job", "job_orphan_pod"]);
  });

  test("case 58: a verbosity that is PUT makes lines appear, and disappear", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const { port, manager } = await startedManager(scope, cluster);
    const put = (body: string) => sendRequest(port, "/debug/flags/v", { ...bearer("admin"), method: "PUT", body });
    const accessLines = (): number => manager.lines.filter((line) => line.includes('"HTTP" verb=')).length;
    await sendRequest(port, "/healthz");
    expect(accessLines()).toBe(0);
    expect((await put("4")).status).toBe(200);
    await sendRequest(port, "/healthz");
    expect(accessLines()).toBe(2);
    expect((await put("x")).status).toBe(400);
    expect((await sendRequest(port, "/debug/flags/v", bearer("admin"))).status).toBe(406);
    expect((await put("0")).status).toBe(200);
    const before = accessLines();
    await sendRequest(port, "/healthz");
    expect(accessLines()).toBe(before);
  });

  test("case 24: a used port ends the manager before anything is asked of the API server", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    scope.onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    let requests = 0;
    cluster.server.observe(() => requests++);
    const kubeconfig = await cluster.kubeconfig("admin");
    const manager = runManager(scope, 1, [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
    ]);
    expect(await manager.status).toBe(1);
    expect(manager.lines.at(-1)).toContain(
      `err="failed to create listener: failed to listen on 127.0.0.1:${port}: listen tcp 127.0.0.1:${port}: bind: address already in use"`,
    );
    expect(requests).toBe(0);
  });

  test("a manager that is stopped while it waits for the API server at startup exits at once", async (scope) => {
    const asked = Promise.withResolvers<void>();
    const silent = createServer(() => asked.resolve());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    scope.onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const kubeconfig = path.join(scratchFolder(scope), "kubeconfig");
    await writeKubeconfig(kubeconfig, `http://127.0.0.1:${port}`);
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      "--bind-address=127.0.0.1",
    ];
    // A request may take ten seconds, which never pass on this clock.
    const manager = runManager(scope, 1, args, new SimulatedClock());
    await asked.promise;
    manager.stop();
    expect(await manager.status).toBe(0);
  });
});

async function onlyPod({ client }: RbacCluster): Promise<DeepReadonly<Pod>> {
  const { items } = await client.resource(pods).list({ namespace: "default" });
  expect(items).toHaveLength(1);
  return items[0]!;
}

async function succeed({ client }: RbacCluster, pod: DeepReadonly<Pod>): Promise<void> {
  const terminated = { exitCode: 0, finishedAt: new Date().toISOString().replace(/\.\d+Z$/, "Z") };
  const container = { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, state: { terminated } };
  await client
    .resource(pods)
    .patch(
      pod.metadata.name!,
      { type: "merge", body: { status: { phase: "Succeeded", containerStatuses: [container] } } },
      { namespace: "default", subresource: "status" },
    );
}
