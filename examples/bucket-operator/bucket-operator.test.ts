import { namespaces } from "@kubewright/api";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { describe, expect, test } from "vitest";

import { type BucketService, bucketOperator, buckets } from "./bucket-operator.ts";

/** The service in memory. It deletes one object of a bucket per call, and fails as often as `failures` says. */
class MemoryService implements BucketService {
  readonly objects = new Map<string, number>();
  failures = 0;

  async ensure(bucket: string): Promise<void> {
    if (this.failures-- > 0) throw new Error("the bucket service is not available");
    if (!this.objects.has(bucket)) this.objects.set(bucket, 0);
  }

  async empty(bucket: string): Promise<number> {
    const left = Math.max(0, (this.objects.get(bucket) ?? 0) - 1);
    this.objects.set(bucket, left);
    return left;
  }

  async remove(bucket: string): Promise<void> {
    this.objects.delete(bucket);
  }
}

describe.each(["in-process", "serve"] as const)("the bucket operator, %s", (against) => {
  async function start() {
    const cluster = await startTestCluster({ against, crds: [buckets.crd], kubelet: "none" });
    for (const name of ["team-a", "team-b"]) await cluster.create(namespaces, { metadata: { name } });
    const service = new MemoryService();
    const operator = await cluster.run(bucketOperator(service));
    const create = (namespace: string) =>
      cluster.create(buckets, { metadata: { name: "logs", namespace }, spec: { purpose: "logs" } });
    return { cluster, service, operator, create, [Symbol.asyncDispose]: () => cluster.stop() };
  }

  test("Buckets of both namespaces get a bucket of their own, and other namespaces none", async () => {
    await using started = await start();
    const { cluster, service, create } = started;
    const created = [await create("team-a"), await create("team-b")];
    const ignored = await create("default");
    for (const bucket of created)
      await cluster.eventually(() => expect(bucket).toHaveCondition("Ready", "True", { reason: "Created" }));
    await cluster.advance("1m");
    expect([...service.objects.keys()].sort()).toEqual(["team-a-logs", "team-b-logs"]);
    await expect(ignored).not.toHaveFinalizer("example.com/bucket");
  });

  test("a bucket is created once the service is available again", async () => {
    await using started = await start();
    const { cluster, service, operator, create } = started;
    service.failures = 2;
    const logs = await create("team-a");
    await cluster.eventually(() => expect(logs).toHaveCondition("Ready", "True"), { within: "1m" });
    expect(operator.errors).toHaveLength(2);
  });

  test("a Bucket is deleted only after its bucket is empty and deleted", async () => {
    await using started = await start();
    const { cluster, service, create } = started;
    const logs = await create("team-a");
    await cluster.eventually(() => expect(logs).toHaveCondition("Ready", "True"));
    service.objects.set("team-a-logs", 3);
    await logs.delete();
    await cluster.eventually(() => expect(logs).toHaveEvent({ reason: "Emptying", message: "2 objects are left" }));
    await expect(logs).toHaveFinalizer("example.com/bucket");
    await cluster.eventually(() => expect(logs).toBeGone(), { within: "1m" });
    expect(service.objects.size).toBe(0);
  });

  test("a replica that starts after a deletion deletes the bucket", async () => {
    await using started = await start();
    const { cluster, service, operator, create } = started;
    const logs = await create("team-b");
    await cluster.eventually(() => expect(logs).toHaveCondition("Ready", "True"));
    await operator.kill();
    await logs.delete();
    await cluster.run(bucketOperator(service), { name: "successor" });
    await cluster.eventually(() => expect(logs).toBeGone(), { within: "1m" });
    expect(service.objects.size).toBe(0);
  });
});
