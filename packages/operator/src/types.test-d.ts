import { type Backup, backups } from "../test/backups.js";
import {
  type DeepReadonly,
  type Job,
  type ObjectKey,
  type ResourceDefinition,
  type UnstructuredObject,
  configMaps,
  jobs,
} from "@kubewright/api";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";

import {
  type Cache,
  type Operator,
  type OperatorClient,
  type ObjectOf,
  createOperator,
  defineCustomResource,
  defineIndex,
  generationChanged,
  indexedBy,
  ownerReference,
  setCondition,
  where,
} from "./index.js";

declare const client: OperatorClient;
const copies = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
  spec: z.object({ volume: z.string(), keep: z.int().default(3), tags: z.array(z.string()).optional() }),
});
type Copy = ObjectOf<typeof copies>;
declare const cache: Cache;
declare const backup: DeepReadonly<Backup>;
declare const operator: Operator;
declare const widgets: ResourceDefinition<UnstructuredObject>;
declare const widget: DeepReadonly<UnstructuredObject>;

test("a reconciler is handed an object of its controller's type, which it cannot write to", () => {
  operator.controllerFor(backups).reconcile(({ object, key, metrics }) => {
    expectTypeOf(object.spec.volume).toEqualTypeOf<string>();
    expectTypeOf(key).toEqualTypeOf<ObjectKey>();
    expectTypeOf(metrics).toEqualTypeOf<undefined>();
    // @ts-expect-error cached objects are read-only at every depth
    object.spec.volume = "other";
    // @ts-expect-error lists inside it too
    object.metadata.finalizers?.push("x");
    // @ts-expect-error there is no such field
    void object.spec.nope;
  });
});

test("what a reconciler answers with is a result", () => {
  const controller = operator.controllerFor(backups);
  controller.reconcile(() => ({ requeueAfterMs: 1 }));
  // @ts-expect-error the result has no such member
  controller.reconcile(() => ({ requeueAfter: "1s" }));
});

test("what the cache hands out has the definition's type and is read-only", () => {
  const job = cache.get(jobs, "a", "default");
  expectTypeOf(job?.spec?.parallelism).toEqualTypeOf<number | undefined>();
  // @ts-expect-error cached objects are read-only
  job!.metadata.labels = {};
  const listed = cache.list(backups, { namespace: "default", labelSelector: { matchLabels: { a: "b" } } });
  // @ts-expect-error so are lists of them
  listed.push(backup);
  // @ts-expect-error and what is in them
  listed[0]!.spec.volume = "x";
});

test("an index is a value of its resource's type, not a name that may be wrong", () => {
  const byVolume = defineIndex(backups, "volume", ({ spec }) => [spec.volume]);
  expectTypeOf(cache.byIndex(byVolume, "data")).toEqualTypeOf<readonly DeepReadonly<Backup>[]>();
  // @ts-expect-error a name is no index
  cache.byIndex("volume", "data");
  // @ts-expect-error the function is of the resource's type
  defineIndex(jobs, "volume", ({ spec }) => [spec.volume]);
  // @ts-expect-error values are text
  defineIndex(jobs, "parallelism", ({ spec }) => [spec?.parallelism]);
  operator.controllerFor(backups).watches(configMaps, indexedBy(byVolume));
});

test("patches are of the object's type", () => {
  void client.patch(backups, backup, { spec: { settings: null, volume: "other" } });
  // @ts-expect-error no such field
  void client.patch(backups, backup, { spec: { volumes: "other" } });
  // @ts-expect-error a field of another type
  void client.patch(backups, backup, { spec: { volume: 1 } });
  void client.patchStatus(backups, backup, { phase: "Running" });
  // @ts-expect-error no such field
  void client.patchStatus(backups, backup, { phrase: "Running" });
  // @ts-expect-error of another type
  void client.patchStatus(backups, backup, { conditions: [{ type: "Ready" }] });
  void client.patchStatus(widgets, widget, { anything: 1 });
  // @ts-expect-error a ConfigMap has no status
  void client.patchStatus(configMaps, { metadata: { name: "a" } }, { phase: "Running" });
});

test("what is applied is part of the object, with a name", () => {
  const metadata = { name: "a", namespace: "default" };
  void client.apply(jobs, { metadata, spec: { parallelism: 1 } });
  // @ts-expect-error no such field
  void client.apply(jobs, { metadata, spec: { parallel: 1 } });
  // @ts-expect-error nothing can be applied without a name
  void client.apply(jobs, { metadata: {}, spec: { parallelism: 1 } });
  // @ts-expect-error what is not wanted any more is left out
  void client.apply(jobs, { metadata, spec: { parallelism: null } });
});

test("what is created is whole and of the definition's type", () => {
  void client.create(backups, { metadata: { name: "a" }, spec: { volume: "data" } });
  // @ts-expect-error a field is missing
  void client.create(backups, { metadata: { name: "a" }, spec: {} });
  // @ts-expect-error a Job is not a Backup
  void client.create(jobs, backup);
});

test("created and applied objects may omit fields with defaults, and results have the declared type", async () => {
  const metadata = { name: "a", namespace: "default" };
  expectTypeOf<Copy["spec"]>().toEqualTypeOf<{ volume: string; keep: number; tags?: string[] | undefined }>();
  const created: Copy = await client.create(copies, { metadata, spec: { volume: "data" } });
  created.spec.keep = 4;
  created.spec.tags?.push("own");
  const applied: Copy = await client.apply(copies, { metadata, spec: { volume: "data" } });
  const again: Copy = await client.update(copies, applied);
  await client.plain.resource(copies).create({ metadata, spec: { volume: "data" } });
  await client.create(copies, again);
  // @ts-expect-error the volume has no default
  await client.create(copies, { metadata, spec: { keep: 1 } });
  // @ts-expect-error no such field
  await client.create(copies, { metadata, spec: { volume: "data", kept: 1 } });
  // @ts-expect-error of another type
  await client.apply(copies, { metadata, spec: { keep: "1" } });
  const job: Job = await client.create(jobs, { metadata, spec: { template: { spec: { containers: [] } } } });
  expectTypeOf((await client.createOrUpdate(jobs, job, () => job)).object).toEqualTypeOf<Job>();
});

test("owners, predicates, maps and conditions are of their types", () => {
  ownerReference(backups, backup);
  // @ts-expect-error a name is no object
  ownerReference(backups, "nightly");
  operator.controllerFor(backups, { predicate: generationChanged });
  operator.controllerFor(backups, { predicate: where(({ spec }) => spec.volume === "x") });
  // @ts-expect-error no such field
  operator.controllerFor(backups, { predicate: where(({ spec }) => spec.volumes === "x") });
  operator.controllerFor(backups).watches(configMaps, ({ data }) => [{ name: data?.backup ?? "" }]);
  // @ts-expect-error a text that was not made into a key
  operator.controllerFor(backups).watches(configMaps, ({ data }) => [data?.backup ?? ""]);
  // @ts-expect-error there are three statuses
  setCondition(backup, { type: "Ready", status: "Perhaps", reason: "X" }, 0);
});

test("an operator's metrics come to its reconcilers as they were made", () => {
  const counting = createOperator({
    name: "counting",
    metrics: (families) => ({ seen: families.counter({ name: "seen_total", help: "Seen", labels: ["phase"] }) }),
  });
  counting.controllerFor(backups).reconcile(({ metrics }) => {
    metrics.seen.inc({ phase: "Running" });
    // @ts-expect-error no such label
    metrics.seen.inc({ phrase: "Running" });
    // @ts-expect-error no such metric
    metrics.lost.inc();
  });
});
