import type { KubernetesObject } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import { defineCustomResource, defineVersion } from "@kubewright/operator";
import { conversionWebhook } from "@kubewright/operator/webhooks";
import { expect, test } from "vitest";
import { z } from "zod";

import { assertCheck, checkConversion, startTestCluster } from "../src/index.js";
import { type SampledSchema, SchemaSampler } from "../src/schema-sample.js";

const names = { group: "example.com", kind: "Backup", scope: "Namespaced" } as const;
const target = z.discriminatedUnion("type", [
  z.object({ type: z.literal("s3"), bucket: z.string() }),
  z.object({ type: z.literal("disk"), size: z.union([z.int(), z.string().regex(/^\d+Gi$/)]) }),
]);
const backups = defineCustomResource({
  ...names,
  version: "v1",
  spec: z.object({
    volume: z.string().min(1),
    keep: z.int().min(1).default(3),
    every: z
      .string()
      .regex(/^\d+m$/)
      .optional(),
    windows: z.array(z.object({ from: z.iso.datetime(), zone: z.string().nullable() })).max(3),
    labels: z.record(z.string(), z.string()).optional(),
    target,
  }),
  status: z.object({ phase: z.enum(["Running", "Complete"]) }),
});
const varied = defineCustomResource({
  ...names,
  version: "v1",
  kind: "Varied",
  spec: z.object({
    host: z
      .string()
      .regex(/^[a-z0-9.-]+$/)
      .max(20),
    size: z.string().regex(/^[0-9]+(Gi|Mi)$/),
    ratio: z.number().min(0).max(1),
    odd: z.int().gt(4).lt(9),
    fives: z.int().min(3).multipleOf(5),
    set: z.array(z.string()).min(1).meta({ "x-kubernetes-list-type": "set" }),
    ports: z
      .array(z.object({ name: z.string(), port: z.int() }))
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }),
    at: z.iso.datetime(),
    mail: z.email().optional(),
    url: z.url(),
    open: z.looseObject({ a: z.boolean() }),
    any: z.unknown(),
    either: z.union([z.object({ a: z.string() }), z.object({ b: z.int() })]),
    short: z.string().min(2).max(3),
    mode: z.enum(["a", "b"]).nullable(),
  }),
});
const oldSpec = z.object({
  claim: z.string().min(1),
  copies: z.int().min(1).default(3),
  minutes: z.int().min(0).optional(),
  windows: z.array(z.object({ start: z.iso.datetime(), zone: z.string().nullable() })).max(3),
  labels: z.record(z.string(), z.string()).optional(),
  target,
});
const complete = defineVersion(backups, {
  version: "v1alpha1",
  spec: oldSpec,
  status: z.object({ phase: z.enum(["Running", "Complete"]) }),
  toStored: ({ spec: { claim, copies, minutes, windows, ...rest } }) => ({
    spec: {
      ...rest,
      volume: claim,
      keep: copies,
      every: minutes === undefined ? undefined : `${minutes}m`,
      windows: windows.map(({ start, zone }) => ({ from: start, zone })),
    },
  }),
  fromStored: ({ spec: { volume, keep, every, windows, ...rest } }) => ({
    spec: {
      ...rest,
      claim: volume,
      copies: keep,
      minutes: every === undefined ? undefined : Number.parseInt(every),
      windows: windows.map(({ from, zone }) => ({ start: from, zone })),
    },
  }),
});
const original = complete.conversion!;
type Stored = Parameters<typeof original.fromStored>[0];
type Old = Parameters<typeof original.toStored>[0];

const checked = (version: typeof complete, options = {}) =>
  checkConversion(conversionWebhook(backups, [version]), options);

test("a conversion that expresses every field passes", async () => {
  const check = await checked(complete);
  assertCheck(check);
  expect(check).toMatchObject({ pass: true });
});

test("a field that the other version does not express is named, and can be declared", async () => {
  const conversion = {
    toStored: (object: Old) => {
      const { spec } = original.toStored(object);
      return { spec: { ...spec, keep: 3, windows: spec.windows.map(({ from }) => ({ from, zone: null })) } };
    },
    fromStored: (stored: Stored) => original.fromStored(stored),
  };
  const lossy = { ...complete, conversion };
  const { pass, message } = await checked(lossy);
  expect(pass).toBe(false);
  expect(message).toMatch(/v1 to v1alpha1 and back: spec\.keep was \d+ and is 3\n/);
  expect(message).toMatch(/v1 to v1alpha1 and back: spec\.windows\[\]\.zone was "zone-\d+" and is null\n/);
  expect(message).toMatch(/v1alpha1 to v1 and back: spec\.copies was \d+ and is 3\n/);
  expect(message).toContain("convert these fields, or name those that a version has no place for in unconverted");
  const declared = await checked(lossy, { unconverted: ["spec.keep", "spec.windows"] });
  expect(declared.message).not.toContain("v1 to v1alpha1 and back: spec.keep");
  expect(declared.message).toContain("v1alpha1 to v1 and back: spec.copies");
});

test("a field that a conversion keeps in an annotation of its own is not lost", async () => {
  const conversion = {
    toStored: (object: Old) => {
      const { keep = "3" } = object.metadata.annotations ?? {};
      return { spec: { ...original.toStored(object).spec, keep: Number(keep) } };
    },
    fromStored: (stored: Stored) => ({
      spec: { ...original.fromStored(stored).spec, copies: 3 },
      metadata: { annotations: { keep: String(stored.spec.keep) } },
    }),
  };
  const { message } = await checked({ ...complete, conversion });
  expect(message).not.toContain("spec.keep");
  expect(message).toContain("v1alpha1 to v1 and back: spec.copies");
});

test("the API server accepts the objects that are drawn from a schema", async () => {
  await using cluster = await startTestCluster({ kubelet: "none", controllers: [], crds: [backups.crd, varied.crd] });
  const refused: string[] = [];
  for (const version of [backups, varied]) {
    const sampler = new SchemaSampler(seededRandom(1));
    for (let index = 0; index < 100; index++) {
      const schema = version.openAPIV3Schema as object as SampledSchema;
      const { spec } = sampler.sample(schema, version.kind) as { spec: object };
      const object: object = { metadata: { name: `a${index}`, namespace: "default" }, spec };
      await cluster.client
        .resource<KubernetesObject>(version)
        .create(object as KubernetesObject, { fieldValidation: "Strict" })
        .catch((error: Error) => refused.push(error.message));
    }
  }
  expect(refused).toEqual([]);
});

test("a conversion that throws is reported with the object", async () => {
  const failing = {
    toStored: (object: Old) => original.toStored(object),
    fromStored: (): never => {
      throw new Error("the volume has no claim");
    },
  };
  const { pass, message } = await checked({ ...complete, conversion: failing });
  expect(pass).toBe(false);
  expect(message).toContain('v1 to v1alpha1 and back fails: the volume has no claim, for {"spec":{"volume":"volume-');
});

test("equal seeds check equal objects", async () => {
  const swapped = { ...complete, conversion: { ...original, fromStored: () => ({ spec: {} }) as never } };
  const [one, again, other] = [await checked(swapped), await checked(swapped), await checked(swapped, { seed: 2 })];
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});
