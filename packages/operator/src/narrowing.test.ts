import {
  type KubernetesObject,
  type Secret,
  configMaps,
  keyOf,
  metadataOnly,
  namespaces,
  pods,
  secrets,
} from "@kubewright/api";
import type { SharedInformer } from "@kubewright/informer";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { type CacheNarrowing, createOperator, narrowCache } from "./index.js";
import { operatorManifests } from "./manifests/index.js";

const KILOBYTES = 4;
const managed = { matchLabels: { "app.example.com/managed": "yes" } };
const labels = { "app.example.com/managed": "yes" };

const secretOf = (name: string, metadata: object = {}, data = "x".repeat(KILOBYTES * 1024)): Secret => ({
  metadata: { name, ...place, ...metadata },
  type: "Opaque",
  stringData: { data },
});

/** Starts a server with 50 Secrets, of which 5 are managed, and a function that runs an operator on it. */
async function startWithSecrets() {
  const server = await startServer();
  for (let index = 0; index < 50; index++)
    await server.client.resource(secrets).create(secretOf(`s-${index}`, index % 10 === 0 ? { labels } : {}));
  const caches: { readonly resource: string; readonly informer: SharedInformer<KubernetesObject> }[] = [];
  const run = (operator: Parameters<typeof server.run>[0]) =>
    server.run(operator, { onInformer: (informer, { resource }) => void caches.push({ resource, informer }) });
  const cached = (resource: string) =>
    caches.filter((each) => each.resource === resource).flatMap(({ informer }) => informer.store.list());
  const bytes = (resource: string): number => JSON.stringify(cached(resource)).length;
  return { ...server, run, cached, bytes };
}

const byName = ({ metadata }: { readonly metadata: { readonly name?: string } }) => [
  { name: metadata.name!, namespace: "default" },
];

test("a watch with a selector stores only the objects that match it, one with the metadata only no data", async () => {
  const sizes: Record<string, number> = {};
  const counts: Record<string, number> = {};
  for (const kind of ["all", "selected", "metadata"]) {
    const { clock, run, cached, bytes } = await startWithSecrets();
    const operator = createOperator({ name: "watcher", leaderElection: false });
    const controller = operator.controllerFor(backups);
    if (kind === "all") controller.watches(secrets, byName);
    if (kind === "selected") controller.watches(secrets, byName, { cache: { labelSelector: managed } });
    if (kind === "metadata") controller.watches(metadataOnly(secrets), byName);
    controller.reconcile(() => {});
    const { stop, requests } = run(operator);
    await clock.advance(1_000);
    sizes[kind] = bytes("secrets");
    counts[kind] = cached("secrets").length;
    expect(requests.filter(({ path }) => path.includes("/secrets?")).length).toBeGreaterThan(0);
    expect(await stop()).toBe("stopped");
  }
  expect(counts).toEqual({ all: 50, selected: 5, metadata: 50 });
  expect(sizes.all).toBeGreaterThan(50 * KILOBYTES * 1024);
  expect(sizes.selected).toBeLessThan(sizes.all! / 9);
  expect(sizes.metadata).toBeLessThan(50 * 512);
});

test("an object that stops matching leaves the cache and is reconciled, and returns when it matches again", async () => {
  const { clock, client, run, cached } = await startWithSecrets();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  const calls: string[] = [];
  operator
    .controllerFor(secrets, { cache: { labelSelector: managed } })
    .whenGone(({ name, stillExists }) => void calls.push(`gone ${name}, ${stillExists ? "exists" : "deleted"}`))
    .reconcile(({ name }) => void calls.push(name));
  const { stop } = run(operator);
  await clock.advance(1_000);
  expect(calls.splice(0).sort()).toEqual(["s-0", "s-10", "s-20", "s-30", "s-40"]);
  const label = (value: string | null) =>
    client
      .resource(secrets)
      .patch("s-0", { type: "merge", body: { metadata: { labels: { "app.example.com/managed": value! } } } }, place);
  await label(null);
  await clock.advance(1_000);
  expect(calls.splice(0)).toEqual(["gone s-0, exists"]);
  expect(cached("secrets").map(keyOf)).not.toContain("default/s-0");
  await label("yes");
  await clock.advance(1_000);
  expect(calls.splice(0)).toEqual(["s-0"]);
  await client.resource(secrets).delete("s-0", place);
  await clock.advance(1_000);
  expect(calls.splice(0)).toEqual(["gone s-0, deleted"]);
  await stop();
});

test("fields, a transform and namespaces narrow the cache of a whole operator", async () => {
  const { clock, client, run, cached } = await startWithSecrets();
  await client.resource(namespaces).create({ metadata: { name: "other" } });
  await client.resource(secrets).create({ ...secretOf("token", { namespace: "other" }), type: "example.com/token" });
  await client.resource(secrets).create({ ...secretOf("token"), type: "example.com/token" });
  const operator = createOperator({
    name: "watcher",
    leaderElection: false,
    caches: [
      narrowCache(secrets, {
        fieldSelector: "type=example.com/token",
        namespaces: ["other"],
        transform: ({ data: _dropped, ...rest }) => rest,
      }),
    ],
  });
  operator
    .controllerFor(backups)
    .reads(secrets)
    .reconcile(() => {});
  const { stop } = run(operator);
  await clock.advance(1_000);
  expect(cached("secrets").map(keyOf)).toEqual(["other/token"]);
  expect(cached("secrets")[0]).not.toHaveProperty("data");
  await stop();
});

test("createOrUpdate reads an object that its narrowed cache excludes from the server", async () => {
  const { clock, run, createBackup, client } = await startWithSecrets();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  const results: unknown[] = [];
  operator
    .controllerFor(backups)
    .owns(secrets, { cache: { labelSelector: managed } })
    .reconcile(async ({ client: own, cache }) => {
      const found = cache.get(secrets, "s-1", "default");
      const { operation } = await own.createOrUpdate(secrets, { metadata: { name: "s-1", ...place } }, (current) => ({
        ...(current ?? secretOf("s-1")),
        type: "Opaque",
      }));
      results.push([found, operation]);
    });
  const { stop } = run(operator);
  await createBackup("a");
  await clock.advance(1_000);
  expect(results[0]).toEqual([undefined, "unchanged"]);
  expect((await client.resource(secrets).get("s-1", place)).data).toBeDefined();
  await stop();
});

test("a write of an object outside the selector does not hold up the next reconcile", async () => {
  const { clock, run, createBackup } = await startWithSecrets();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  let count = 0;
  operator
    .controllerFor(backups)
    .owns(secrets, { cache: { labelSelector: managed } })
    .reconcile(async ({ client: own }) => {
      await own.create(secrets, secretOf(`made-${count++}`));
      return count < 3 ? { requeueAfterMs: 10 } : {};
    });
  const { stop } = run(operator);
  await createBackup("a");
  await clock.advance(1_000);
  expect(count).toBe(3);
  await stop();
});

test("writes of an object whose metadata is cached are in the cache before the next reconcile", async () => {
  const { clock, run, createBackup } = await startWithSecrets();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  const seen: (number | undefined)[] = [];
  operator
    .controllerFor(backups)
    .owns(metadataOnly(secrets))
    .reconcile(async ({ client: own, cache, object }) => {
      const owned = cache.list(metadataOnly(secrets)).filter(({ metadata }) => metadata.name === "made");
      seen.push(owned.length);
      expect(cache.controlledBy(metadataOnly(secrets), object)).toEqual([]);
      if (owned.length > 0) return {};
      await own.create(secrets, secretOf("made"));
      return { requeueAfterMs: 1 };
    });
  const { stop } = run(operator);
  await createBackup("a");
  await clock.advance(1_000);
  expect(seen).toEqual([0, 1]);
  await stop();
});

test("controllers that narrow one resource differently are an error when the operator starts", async () => {
  const { run } = await startServer();
  const operator = createOperator({ name: "watcher" });
  operator
    .controllerFor(backups)
    .watches(secrets, byName, { cache: { labelSelector: managed } })
    .reconcile(() => {});
  operator
    .controllerFor(pods)
    .reads(secrets)
    .reconcile(() => {});
  expect(await run(operator).running).toBe(
    'secrets has one cache, but controller "backup" narrows it to labels "app.example.com/managed=yes" and controller "pod" to nothing (all objects): narrow it once, in "caches" of createOperator',
  );
});

test("a narrowing that cannot apply is an error when the operator starts", async () => {
  const { run } = await startServer();
  const start = async (cache: CacheNarrowing, options: object = {}) => {
    const operator = createOperator({ name: "watcher", ...options });
    operator.controllerFor(namespaces, { cache }).reconcile(() => {});
    return run(operator).running;
  };
  expect(await start({ namespaces: ["a"] })).toBe(
    "namespaces is cluster-scoped: its cache cannot be narrowed to namespaces",
  );
  expect(await start({ labelSelector: managed }, { sharding: "namespaces" })).toBe(
    "watcher shares all namespaces: the cache of namespaces cannot be narrowed",
  );
});

test("with sharding a narrowed cache has the selected objects of the replica's namespaces", async () => {
  const { clock, client, run, cached } = await startWithSecrets();
  const operator = createOperator({ name: "watcher", sharding: "namespaces" });
  const calls: string[] = [];
  operator
    .controllerFor(secrets, { cache: { labelSelector: managed } })
    .reads(metadataOnly(configMaps))
    .reconcile(({ name }) => void calls.push(name));
  await client.resource(configMaps).create({ metadata: { name: "c", ...place }, data: { large: "x".repeat(9_000) } });
  const { stop, requests } = run(operator);
  await clock.advance(60_000);
  expect(calls.sort()).toEqual(["s-0", "s-10", "s-20", "s-30", "s-40"]);
  const reads = requests.filter(({ method, path }) => method === "GET" && /\/secrets\b/.test(path));
  expect(reads.every(({ path }) => path.includes("labelSelector="))).toBe(true);
  expect(cached("secrets")).toHaveLength(5);
  expect(new Set(cached("configmaps").flatMap((each) => Object.keys(each)))).toEqual(new Set(["metadata"]));
  await stop();
});

test("roles allow reading a resource whose cache is narrowed to namespaces only there", () => {
  const operator = createOperator({ name: "watcher", caches: [narrowCache(secrets, { namespaces: ["a"] })] });
  operator
    .controllerFor(backups)
    .reads(metadataOnly(pods), secrets)
    .reconcile(() => {});
  const objects = operatorManifests({ operator }) as readonly (KubernetesObject & { rules?: object[] })[];
  const rules = objects
    .filter(({ kind, metadata }) => kind!.endsWith("Role") && metadata.name === "watcher")
    .map(({ metadata: { namespace }, rules: each }) => ({ namespace, text: JSON.stringify(each) }));
  expect(rules.map(({ namespace, text }) => [namespace, text.includes('"secrets"'), text.includes('"pods"')])).toEqual([
    [undefined, false, true],
    ["a", true, false],
  ]);
});
