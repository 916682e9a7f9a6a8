import { type ConfigMap, configMaps, jobs, keyOf, nodes } from "@kubewright/api";
import { expect, test } from "vitest";

import { type Backup, backups, jobOf } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import {
  type Predicate,
  and,
  annotationsChanged,
  createOperator,
  defineIndex,
  generationChanged,
  indexedBy,
  labelsChanged,
  not,
  or,
  ownerReference,
  ownersOf,
  resourceVersionChanged,
  where,
} from "./index.js";

const bySettings = defineIndex(backups, "settings", ({ metadata, spec }) =>
  spec.settings === undefined ? [] : [`${metadata.namespace}/${spec.settings}`],
);

function watcher() {
  const operator = createOperator({ name: "watcher", leaderElection: false });
  const seen: string[] = [];
  const look = async ({ key }: { key: string }): Promise<void> => void seen.push(key);
  /** Keys that were reconciled since the last call. */
  const news = (): string[] => seen.splice(0);
  return { operator, look, news };
}

test("another resource has those looked at that an index finds by its key", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const { operator, look, news } = watcher();
  operator.controllerFor(backups).watches(configMaps, indexedBy(bySettings)).reconcile(look);
  for (const name of ["a", "b"]) await createBackup(name, { settings: "shared" });
  await createBackup("c");
  const { stop } = run(operator);
  await clock.advance(1_000);
  expect(news().sort()).toEqual(["default/a", "default/b", "default/c"]);
  await client.resource(configMaps).create({ metadata: { name: "shared", ...place }, data: {} });
  await client.resource(configMaps).create({ metadata: { name: "nobodys", ...place }, data: {} });
  await clock.advance(1_000);
  expect(news().sort()).toEqual(["default/a", "default/b"]);
  await stop();
});

test("owners are looked at that do not control, when that is asked for, and both owners of what changes hands", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const { operator, look, news } = watcher();
  operator.controllerFor(backups).watches(configMaps, ownersOf(backups)).owns(jobs).reconcile(look);
  const [a, b] = [await createBackup("a"), await createBackup("b")];
  const { stop } = run(operator);
  await clock.advance(1_000);
  news();
  const shared = (backup: typeof a) => ownerReference(backups, backup, { controller: false });
  await client.resource(configMaps).create({ metadata: { name: "m", ...place, ownerReferences: [shared(a)] } });
  await client.resource(jobs).create({ ...jobOf(b), metadata: { name: "j", ...place, ownerReferences: [shared(b)] } });
  await clock.advance(1_000);
  expect(news()).toEqual(["default/a"]);
  await client
    .resource(configMaps)
    .patch("m", { type: "merge", body: { metadata: { ownerReferences: [shared(b)] } } }, place);
  await clock.advance(1_000);
  expect(news().sort()).toEqual(["default/a", "default/b"]);
  await stop();
});

test("a map function sees the cache, and may answer with names", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const { operator, look, news } = watcher();
  operator
    .controllerFor(backups)
    .watches(nodes, (_node, cache) =>
      cache
        .list(backups, { labelSelector: { matchLabels: { tier: "1" } } })
        .map(({ metadata }) => ({ name: metadata.name!, namespace: metadata.namespace })),
    )
    .reconcile(look);
  await createBackup("a", {}, { labels: { tier: "1" } });
  await createBackup("b", {}, { labels: { tier: "2" } });
  const { stop } = run(operator);
  await clock.advance(1_000);
  news();
  await client.resource(nodes).create({ metadata: { name: "n" } });
  await clock.advance(1_000);
  expect(news()).toEqual(["default/a"]);
  await stop();
});

test.each<[string, Predicate<Backup>, string[]]>([
  ["generationChanged", generationChanged, ["spec"]],
  ["labelsChanged", labelsChanged, ["label"]],
  ["annotationsChanged", annotationsChanged, ["annotation"]],
  ["resourceVersionChanged", resourceVersionChanged, ["spec", "label", "annotation", "status"]],
  ["or", or(generationChanged, labelsChanged), ["spec", "label"]],
  ["and", and(resourceVersionChanged, not(generationChanged)), ["label", "annotation", "status"]],
  ["where", where(({ metadata }) => metadata.labels?.tier === "1"), ["label", "annotation", "status"]],
])("%s lets pass the updates it names", async (name, predicate, passing) => {
  const { clock, client, run, createBackup } = await startServer();
  const { operator, look, news } = watcher();
  operator.controllerFor(backups, { predicate }).reconcile(look);
  const { stop } = run(operator);
  await createBackup("a");
  await clock.advance(1_000);
  // A predicate that filters updates accepts creates, its negation rejects them.
  expect(news()).toEqual(name === "and" || name === "where" ? [] : ["default/a"]);
  const patch = (body: object, subresource?: string) =>
    client.resource(backups).patch("a", { type: "merge", body }, { ...place, ...(subresource ? { subresource } : {}) });
  const changes: Record<string, () => Promise<unknown>> = {
    spec: () => patch({ spec: { volume: "other" } }),
    label: () => patch({ metadata: { labels: { tier: "1" } } }),
    annotation: () => patch({ metadata: { annotations: { note: "x" } } }),
    status: () => patch({ status: { phase: "x" } }, "status"),
  };
  const passed: string[] = [];
  for (const [change, make] of Object.entries(changes)) {
    await make();
    await clock.advance(1_000);
    if (news().length > 0) passed.push(change);
  }
  expect(passed).toEqual(passing);
  await stop();
});

test("only what is in the namespaces named is seen, and what is in none", async () => {
  const { clock, client, run, createBackup } = await startServer();
  for (const name of ["one", "two", "three"])
    await client.resource((await import("@kubewright/api")).namespaces).create({ metadata: { name } });
  const operator = createOperator({ name: "watcher", leaderElection: false, namespaces: ["one", "two"] });
  const seen: string[] = [];
  operator
    .controllerFor(backups)
    .reads(nodes)
    .reconcile(async ({ key, cache }) => {
      seen.push(
        `${key}: ${cache.list(nodes).length} nodes, ${cache.list(backups).length} of ${cache.list(backups, { namespace: "one" }).length}`,
      );
    });
  await client.resource(nodes).create({ metadata: { name: "n" } });
  for (const namespace of ["one", "two", "three"]) await createBackup("b", {}, { namespace });
  const { stop, requests } = run(operator);
  await clock.advance(1_000);
  expect(seen.sort()).toEqual(["one/b: 1 nodes, 2 of 1", "two/b: 1 nodes, 2 of 1"]);
  expect(requests.some(({ path }) => path.startsWith("/apis/example.com/v1/backups"))).toBe(false);
  expect(await stop()).toBe("stopped");
});

test("what has changed goes before what an initial list brings, and a source may have more urgency", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  const order: string[] = [];
  const toBackup = ({ data = {} }: { readonly data?: Readonly<Record<string, string>> }) => [
    { name: data.backup ?? "", ...place },
  ];
  operator
    .controllerFor(backups)
    .watches<ConfigMap>(configMaps, toBackup, {
      priority: 10,
      predicate: where(({ data }) => data?.backup !== undefined),
    })
    .reconcile(async ({ object, clock }) => {
      order.push(keyOf(object));
      await clock.sleep(1_000);
    });
  for (const name of ["a", "b", "c", "d", "e"]) await createBackup(name);
  const { stop } = run(operator);
  await clock.advance(500);
  await createBackup("new");
  await client.resource(configMaps).create({ metadata: { name: "urgent", ...place }, data: { backup: "e" } });
  await clock.advance(20_000);
  expect(order).toEqual(["default/a", "default/e", "default/new", "default/b", "default/c", "default/d"]);
  await stop();
});

test("a resource that no controller watches or reads is not in the cache, and a get needs the namespace", async () => {
  const { clock, run, createBackup } = await startServer();
  const operator = createOperator({ name: "watcher", leaderElection: false });
  operator.controllerFor(backups).reconcile(async ({ cache }) => {
    expect(() => cache.get(backups, "a")).toThrow('backups.example.com "a" is read without its namespace');
    cache.list(configMaps);
  });
  const { stop, lines } = run(operator);
  await createBackup("a");
  await clock.advance(100);
  expect(lines).toContainEqual(
    expect.objectContaining({
      message: "Reconciler error",
      err: "configmaps (kind ConfigMap) is not in the cache: let a controller say .reads(…), .owns(…) or .watches(…)",
    }),
  );
  await stop();
});
