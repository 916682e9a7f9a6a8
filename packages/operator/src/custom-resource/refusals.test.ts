import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";

import { defineCustomResource } from "./custom-resource.js";
import { type CustomResourceSchema, withJsonSchema } from "./custom-resource-schema.js";
import { CustomResourceError } from "./schema-problem.js";

const names = { group: "example.com", version: "v1", kind: "Thing", scope: "Namespaced" } as const;

function schemaOf(spec: CustomResourceSchema) {
  return defineCustomResource({ ...names, spec }).openAPIV3Schema.properties?.["spec"];
}

/** The schema of field `x`. */
function memberSchema(x: z.ZodType) {
  return schemaOf(z.object({ x }))?.properties?.["x"];
}

test.each<[string, z.ZodType, object]>([
  ["anything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true, nullable: true }],
  [
    "null beside a list of values",
    z.enum(["a", "b"]).nullable(),
    { type: "string", nullable: true, allOf: [{ enum: ["a", "b"] }] },
  ],
  ["values of two types", z.literal(["auto", 1]), { "x-kubernetes-int-or-string": true, enum: [1, "auto"] }],
  [
    "alternatives that are values",
    z.union([z.literal("a"), z.enum(["b", "c"])]),
    { type: "string", enum: ["a", "b", "c"] },
  ],
  ["an integer without bounds of its own", z.int(), { type: "integer" }],
  ["an integer with one bound", z.int().positive(), { type: "integer", minimum: 0, exclusiveMinimum: true }],
  ["an int-or-string", z.union([z.int(), z.string()]), { "x-kubernetes-int-or-string": true }],
  [
    "integers among numbers",
    z.union([z.int(), z.number().min(0.5)]),
    {
      type: "number",
      anyOf: [{ multipleOf: 1 }, { minimum: 0.5 }],
    },
  ],
  [
    "an open object",
    z.looseObject({ a: z.boolean() }),
    {
      type: "object",
      required: ["a"],
      properties: { a: { type: "boolean" } },
      "x-kubernetes-preserve-unknown-fields": true,
    },
  ],
  [
    "a map with listed names",
    z.record(z.enum(["a", "b"]), z.boolean()),
    {
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "boolean" }, b: { type: "boolean" } },
    },
  ],
  ["a pattern's flags", z.string().regex(/^a.c$/is), { type: "string", pattern: "(?is)^a.c$" }],
  ["two patterns", z.string().regex(/a/).regex(/b/), { type: "string", pattern: "a", allOf: [{ pattern: "b" }] }],
  [
    "a range without its ends",
    z.number().gt(0).lt(1),
    {
      type: "number",
      minimum: 0,
      exclusiveMinimum: true,
      maximum: 1,
      exclusiveMaximum: true,
    },
  ],
  [
    "a list with keys",
    z
      .array(z.object({ name: z.string() }))
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }),
    {
      type: "array",
      items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  ],
  [
    "a refinement that a rule says, too",
    z
      .int()
      .refine((n) => n % 2 === 0)
      .meta({ "x-kubernetes-validations": [{ rule: "self % 2 == 0" }] }),
    {
      type: "integer",
      "x-kubernetes-validations": [{ rule: "self % 2 == 0" }],
    },
  ],
  [
    "what no type fits, on request",
    z.union([z.string(), z.boolean()]).meta({ "x-kubernetes-preserve-unknown-fields": true }),
    {
      "x-kubernetes-preserve-unknown-fields": true,
    },
  ],
  [
    "schemas by reference",
    z.object({ a: z.string().meta({ id: "Name" }), b: z.array(z.boolean()) }),
    {
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "string" }, b: { type: "array", items: { type: "boolean" } } },
    },
  ],
  [
    "closed alternatives",
    z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]),
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [
        { required: ["a"], not: { required: ["b"] } },
        { required: ["b"], not: { required: ["a"] } },
      ],
    },
  ],
])("%s can be said", (_what, schema, expected) => {
  expect(memberSchema(schema)).toEqual(expected);
});

test.each<[string, z.ZodType, string]>([
  ["a transformation", z.string().transform(Number), "spec.x is transformed"],
  ["trimming", z.string().trim(), "spec.x is changed by its schema"],
  [
    "coercion",
    z.coerce.number(),
    "spec.x is coerced, and the API server stores what it is sent: leave that to who reads it, and take z.number()",
  ],
  [
    "a refinement",
    z.array(z.string().refine(Boolean)),
    'spec.x[] has a .refine(…), and the API server runs no JavaScript: add the same as .meta({ "x-kubernetes-validations": [{ rule: "…" }] })',
  ],
  ["a Date", z.object({ y: z.date() }), "spec.x.y is a Date, and JSON has none: use z.iso.datetime()"],
  ["a Set", z.set(z.string()), "spec.x is a Set"],
  ["a bigint", z.bigint(), "spec.x is a bigint, and JSON has none: use z.int()"],
  ["catching", z.string().catch("a"), "spec.x takes anything instead of what is wrong (.catch)"],
  ["two types", z.union([z.string(), z.boolean()]), "spec.x is string or boolean, and a field has one type"],
  ["a text or any number", z.union([z.string(), z.number()]), "spec.x is string or number"],
  [
    "two types in alternatives",
    z.union([z.object({ y: z.string() }), z.object({ y: z.boolean() })]),
    "spec.x.y is string or boolean",
  ],
  [
    "null in one alternative",
    z.union([z.object({ y: z.string() }), z.object({ y: z.string().nullable(), z: z.string() })]),
    "spec.x.y may be null in one alternative only",
  ],
  [
    "a default in one alternative",
    z.union([z.object({ y: z.string() }), z.object({ z: z.string().default("a") })]),
    "spec.x.z has a default and is in one alternative only",
  ],
  ["a tuple", z.tuple([z.string(), z.int()]), "spec.x is a tuple"],
  ["looking ahead", z.string().regex(/^(?!a)/), "spec.x has a pattern that the API server cannot read"],
  ["an unknown format", z.jwt(), 'spec.x has the format "jwt", which the API server does not check'],
  [
    "members of any other name",
    z.object({ a: z.string() }).catchall(z.int()),
    "spec.x has named members and others of a type of their own",
  ],
  ["restricted names", z.record(z.string().regex(/^a/), z.int()), "spec.x restricts the names of its members"],
  [
    "a schema in itself",
    z.object({
      get again() {
        return z.lazy((): z.ZodType => recursive).optional();
      },
    }),
    "contains itself",
  ],
  ["null alone", z.null(), "spec.x is always null"],
  ["nothing", z.never(), "spec.x allows nothing"],
  ["a URL of some hosts", z.url({ hostname: /example/ }), "spec.x is a URL of certain protocols or hosts"],
  ["a default of null", z.string().nullable().default(null), "spec.x has null for its default"],
  [
    "a default that changes",
    z.string().default(() => String(Math.random())),
    "spec.x has a default that is another each time",
  ],
])("%s cannot be expressed, and the error reports where and what to do", (_what, schema, message) => {
  expect(() => memberSchema(schema)).toThrow(message);
  expect(() => memberSchema(schema)).toThrow(CustomResourceError);
});

const recursive: z.ZodType = z.object({ children: z.array(z.lazy(() => recursive)) });

test("all problems are reported together", () => {
  const spec = z.object({ a: z.date(), b: z.string().trim() });
  expect(() => defineCustomResource({ ...names, spec })).toThrow(/^Thing: spec\.a is a Date.*; spec\.b is changed/);
});

test("names that no API server takes are refused", () => {
  const spec = z.object({});
  expect(() => defineCustomResource({ ...names, kind: "thing", spec })).toThrow(
    'thing: kind must be in upper camel case, such as "Backup"',
  );
  expect(() => defineCustomResource({ ...names, group: "example", spec })).toThrow(
    "group must be a domain with at least one dot",
  );
});

test("a plural is made as English has it", () => {
  const pluralOf = (kind: string) => defineCustomResource({ ...names, kind, spec: z.object({}) }).resource;
  expect(["Backup", "Policy", "Gateway", "Class", "Box", "Switch"].map(pluralOf)).toEqual([
    "backups",
    "policies",
    "gateways",
    "classes",
    "boxes",
    "switches",
  ]);
});

test("other libraries' schemas serve as well: those that say themselves in JSON Schema, and any with one beside it", () => {
  const properties = { name: { type: "string" }, size: { type: "integer", minimum: 1 } };
  const ark = schemaOf(type({ name: "string", "size?": "number.integer >= 1" }));
  expect(ark).toEqual({ type: "object", required: ["name"], properties });
  const valibot = withJsonSchema(v.object({ name: v.string(), size: v.optional(v.number()) }), {
    type: "object",
    required: ["name"],
    properties,
  });
  expect(schemaOf(valibot)).toEqual({ type: "object", required: ["name"], properties });
  const plain = v.object({ name: v.string() }) as unknown as CustomResourceSchema;
  expect(() => schemaOf(plain)).toThrow("spec has a schema of valibot that cannot say itself in JSON Schema");
});

test("make fills in defaults, and names what is wrong with each member", () => {
  const things = defineCustomResource({ ...names, spec: z.object({ size: z.int().default(1), name: z.string() }) });
  const metadata = { name: "a", namespace: "default" };
  expect(things.make({ metadata, spec: { name: "b" } })).toEqual({
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata,
    spec: { name: "b", size: 1 },
  });
  expect(() => things.make({ metadata, spec: { name: 1 } as never })).toThrow(
    "Thing: spec.name: Invalid input: expected string",
  );
});
