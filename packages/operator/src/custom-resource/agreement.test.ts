import { customResourceDefinitions } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client, StatusError, isInvalid } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";

import { type CustomResource, defineCustomResource } from "./custom-resource.js";

/** A schema, and values that it accepts. */
interface Sample {
  readonly schema: z.ZodType;
  readonly valid: fc.Arbitrary<unknown>;
}

const text = fc.string({ maxLength: 6 });
const wholeNumber = fc.integer({ min: -50, max: 50 });

const scalar: fc.Arbitrary<Sample> = fc.oneof(
  fc.record({ min: fc.nat(2), more: fc.nat(4) }).map(({ min, more }) => ({
    schema: z
      .string()
      .min(min)
      .max(min + more),
    valid: fc.string({ minLength: min, maxLength: min + more }),
  })),
  fc.record({ min: wholeNumber, more: fc.nat(20) }).map(({ min, more }) => ({
    schema: z
      .int()
      .min(min)
      .max(min + more),
    valid: fc.integer({ min, max: min + more }),
  })),
  fc.constant({
    schema: z.number().gt(-50.5).lt(50.5),
    valid: fc.double({ min: -50, max: 50, noNaN: true }).map((n) => n + 0),
  }),
  fc.constant({ schema: z.int().multipleOf(3), valid: wholeNumber.map((n) => n * 3 + 0) }),
  fc.constant({ schema: z.boolean(), valid: fc.boolean() }),
  fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map((values) => ({
    schema: z.enum(values as [string]),
    valid: fc.constantFrom(...values),
  })),
  fc.constantFrom("on", 3, true).map((value) => ({ schema: z.literal(value), valid: fc.constant(value) })),
  fc.constantFrom(
    { schema: z.string().regex(/^[a-c]+$/i), valid: fc.constantFrom("a", "abC", "BB") },
    { schema: z.string().startsWith("a").endsWith("z"), valid: fc.constantFrom("az", "a-z") },
    { schema: z.iso.datetime(), valid: fc.constantFrom("2026-01-01T00:00:00Z", "2024-02-29T23:59:59.5Z") },
    { schema: z.iso.date(), valid: fc.constantFrom("2026-01-01", "2024-02-29") },
    { schema: z.iso.duration(), valid: fc.constantFrom("P1D", "PT1H30M", "P2W", "P1Y2M3DT4H5M6.5S") },
    { schema: z.email(), valid: fc.constantFrom("a@b.co", "a.b+c@d-e.org") },
    { schema: z.uuid(), valid: fc.uuid({ version: [1, 4] }) },
    { schema: z.ipv4(), valid: fc.ipV4() },
    { schema: z.ipv6(), valid: fc.constantFrom("::1", "fe80::1:2", "1:2:3:4:5:6:7:8") },
    { schema: z.hostname(), valid: fc.constantFrom("localhost", "a.b-c.example") },
    { schema: z.url(), valid: fc.constantFrom("https://example.com/a?b=c", "ftp://h") },
  ),
  fc.constant({
    schema: z.union([z.int().min(0), z.string().regex(/^\d+%$/)]),
    valid: fc.oneof(fc.nat(9), fc.constantFrom("5%", "100%")),
  }),
);

type Member = [sample: Sample, presence: string];

function composite(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const member = fc
    .tuple(inner, fc.constantFrom("required", "optional", "default"))
    .chain(([each, presence]) =>
      presence === "default"
        ? each.valid.map((value): Member => [
            value === null ? each : { ...each, schema: each.schema.default(value) },
            "optional",
          ])
        : fc.constant<Member>([each, presence]),
    );
  const members = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), member, { minKeys: 1 });
  const object = members.map((entries) => objectOf(entries));
  return fc.oneof(
    object,
    fc.tuple(inner, fc.nat(1)).map(([{ schema, valid }, min]) => ({
      schema: z.array(schema).min(min).max(3),
      valid: fc.array(valid, { minLength: min, maxLength: 3 }),
    })),
    inner.map(({ schema, valid }) => ({
      schema: z.record(z.string(), schema),
      valid: fc.dictionary(fc.constantFrom("x", "y"), valid),
    })),
    inner.map(({ schema, valid }) => ({
      schema: schema.nullable(),
      valid: fc.oneof(valid, fc.constant(null)),
    })),
    fc.tuple(inner, inner).map(([one, other]) => {
      const first = objectOf({ left: [one, "required"] }, { type: z.literal("one") }, { type: "one" });
      const second = objectOf({ right: [other, "required"] }, { type: z.literal("other") }, { type: "other" });
      return {
        schema: z.discriminatedUnion("type", [first.schema, second.schema]),
        valid: fc.oneof(first.valid, second.valid),
      };
    }),
    fc.tuple(inner, inner).map(([one, other]) => {
      const [first, second] = [objectOf({ left: [one, "required"] }), objectOf({ right: [other, "required"] })];
      return { schema: z.union([first.schema, second.schema]), valid: fc.oneof(first.valid, second.valid) };
    }),
    fc.tuple(inner, inner).map(([one, other]) => {
      const [first, second] = [objectOf({ left: [one, "required"] }), objectOf({ right: [other, "optional"] })];
      return {
        schema: z.intersection(first.schema, second.schema),
        valid: fc.tuple(first.valid, second.valid).map(([a, b]) => ({ ...(a as object), ...(b as object) })),
      };
    }),
  );
}

function objectOf(
  entries: Record<string, Member>,
  fixed: z.core.$ZodShape = {},
  fixedValue: object = {},
): { schema: z.ZodObject; valid: fc.Arbitrary<unknown> } {
  const shape: Record<string, z.ZodType> = { ...(fixed as Record<string, z.ZodType>) };
  const values: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, [{ schema, valid }, presence]] of Object.entries(entries)) {
    shape[name] = presence === "optional" && schema.def.type !== "default" ? schema.optional() : schema;
    values[name] = valid;
  }
  const requiredKeys = Object.keys(entries).filter((name) => entries[name]![1] === "required");
  return {
    schema: z.object(shape),
    valid: fc.record(values, { requiredKeys }).map((value) => ({ ...fixedValue, ...value })),
  };
}

const sample = composite(composite(fc.oneof(scalar, composite(scalar))));

/** A value with one change: a part removed, of another type, or slightly larger. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  const places: { apply: (to: unknown) => unknown }[] = [];
  const collect = (node: unknown, rebuild: (node: unknown) => unknown): void => {
    for (const other of ["other", 7, 1.5, true, [], {}]) places.push({ apply: () => rebuild(other) });
    if (typeof node === "string")
      places.push({ apply: () => rebuild(`${node}!`) }, { apply: () => rebuild(node.slice(1)) });
    if (typeof node === "number")
      places.push({ apply: () => rebuild(node + 100) }, { apply: () => rebuild(node - 0.5) });
    if (Array.isArray(node))
      for (const [index, item] of node.entries()) collect(item, (to) => rebuild(node.with(index, to)));
    else if (typeof node === "object" && node !== null) {
      places.push({ apply: () => rebuild({ ...node, unheardOf: 1 }) });
      for (const [key, member] of Object.entries(node)) {
        const { [key]: _left, ...rest } = node as Record<string, unknown>;
        places.push({ apply: () => rebuild(rest) });
        collect(member, (to) => rebuild({ ...node, [key]: to }));
      }
    }
  };
  collect(value, (node) => node);
  return fc.constantFrom(...places).map(({ apply }) => apply(value));
}

/** So that a failing property prints its schema. */
function shown(schema: z.ZodType) {
  return { schema, [fc.toStringMethod]: () => JSON.stringify(z.toJSONSchema(schema, { io: "input" })) };
}

async function serve(schema: z.ZodType) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1) });
  const client = new Client({ transport: server.transport, clock });
  const names = { group: "example.com", version: "v1", kind: "Thing", scope: "Cluster" } as const;
  const resource: CustomResource = defineCustomResource({ ...names, spec: z.object({ value: schema }) });
  await client.resource(customResourceDefinitions).create(resource.crd);
  await clock.advance(1_000);
  return { client, resource, end: () => server.close() };
}

test("what a zod schema takes and refuses, the API server takes and refuses, and stores what zod makes of it", async () => {
  let [taken, refused] = [0, 0];
  const cases = sample.chain(({ schema, valid }) =>
    fc.tuple(
      fc.constant(shown(schema)),
      fc.array(fc.oneof(valid, valid.chain(changed)), { minLength: 8, maxLength: 8 }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ([{ schema }, values]) => {
      const { client, resource, end } = await serve(schema);
      for (const [index, value] of values.entries()) {
        const parsed = schema.safeParse(value);
        const object = { metadata: { name: `thing-${index}` }, spec: { value } };
        let stored: unknown;
        try {
          stored = await client.resource(resource).create(object);
          taken += 1;
        } catch (error) {
          if (!(error instanceof StatusError && isInvalid(error))) throw error;
          refused += 1;
          if (parsed.success) throw new Error(`zod takes ${JSON.stringify(value)}: ${error.message}`, { cause: error });
          continue;
        }
        if (!parsed.success) throw new Error(`zod refuses ${JSON.stringify(value)}: ${parsed.error.message}`);
        expect(stored).toMatchObject({ spec: { value: parsed.data } });
      }
      await end();
    }),
    { numRuns: process.env["KUBEWRIGHT_HEAVY"] === "1" ? 3_000 : 150, seed: 7 },
  );
  expect(Math.min(taken, refused)).toBeGreaterThan(200);
});
