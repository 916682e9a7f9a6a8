import type { DeepReadonly } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";

import { defineCustomResource } from "./custom-resource.js";
import type { ObjectOf } from "./custom-resource-version.js";
import { defineVersion } from "./define-version.js";

const backups = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  scope: "Namespaced",
  spec: z.object({ volume: z.string(), keep: z.int().default(3) }),
  status: z.object({ phase: z.enum(["Running", "Complete"]) }),
});
type Backup = ObjectOf<typeof backups>;

test("the schema is the type", () => {
  expectTypeOf<Backup["spec"]>().toEqualTypeOf<{ volume: string; keep: number }>();
  expectTypeOf<Backup["status"]>().toEqualTypeOf<{ phase: "Running" | "Complete" } | undefined>();
  expectTypeOf(backups.make({ metadata: {}, spec: { volume: "data" } })).toEqualTypeOf<Backup>();
  // @ts-expect-error: there is no such member.
  backups.make({ metadata: {}, spec: { volume: "data", kept: 1 } });
  // @ts-expect-error: the volume is missing.
  backups.make({ metadata: {}, spec: {} });
});

test("clients know it", async () => {
  const client = {} as Client;
  const backup = await client.resource(backups).get("a", { namespace: "default" });
  expectTypeOf(backup).toEqualTypeOf<DeepReadonly<Backup>>();
  // @ts-expect-error: what is read is shared.
  backup.spec.keep = 4;
});

test("a spec that may be left out is optional, and a status that has no schema is none", () => {
  const things = defineCustomResource({
    group: "example.com",
    version: "v1",
    kind: "Thing",
    scope: "Cluster",
    spec: z.object({ size: z.int() }).optional(),
  });
  type Thing = ObjectOf<typeof things>;
  expectTypeOf<Thing["spec"]>().toEqualTypeOf<{ size: number } | undefined>();
  expectTypeOf<Thing["status"]>().toEqualTypeOf<undefined>();
});

test("conversions are between the two versions' objects", () => {
  defineVersion(backups, {
    version: "v1alpha1",
    spec: z.object({ claim: z.string() }),
    toStored: ({ spec }) => ({ spec: { volume: spec.claim, keep: 3 } }),
    fromStored: ({ spec }) => ({ spec: { claim: spec.volume } }),
  });
  defineVersion(backups, {
    version: "v1alpha1",
    spec: z.object({ claim: z.string() }),
    // @ts-expect-error: the stored version has no claim.
    toStored: ({ spec }) => ({ spec: { claim: spec.claim } }),
    fromStored: ({ spec }) => ({ spec: { claim: spec.volume } }),
  });
});
