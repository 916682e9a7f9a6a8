import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import * as clientNode from "@kubernetes/client-node";
import { expect, test } from "vitest";

import { builtInResources } from "../kinds/index.js";
import { BuiltInSchemas } from "./built-in-schemas.js";
import { commonTypes } from "./built-in-types.js";
import type { Schema } from "./schema.js";

interface Model {
  getAttributeTypeMap(): readonly { name: string; baseName: string; type: string; format: string }[];
}

/** Prefixes of model names. When two versions of a type exist, the older version has the name without a prefix. */
const PREFIXES = [
  ["", "V2", "V1", "CoreV1", "ApiextensionsV1", "AuthenticationV1", "StorageV1"],
  ["DiscoveryV1", "RbacV1", "AdmissionregistrationV1"],
].flat();
const SCALARS: Readonly<Record<string, string>> = {
  boolean: "boolean",
  any: "any",
  Date: "time",
  V1MicroTime: "microtime",
  IntOrString: "intOrString",
};
const declarationFiles = join(
  dirname(createRequire(import.meta.url).resolve("@kubernetes/client-node")),
  "gen",
  "models",
);
const models = clientNode as unknown as Readonly<Record<string, Model>>;
const declarations = [commonTypes, ...builtInResources().flatMap(({ types }) => types ?? [])];
const texts = new Map(declarations.flatMap(({ fields }) => Object.entries(fields)));
const inlined = new Set([...texts.values()].flatMap((text) => [...text.matchAll(/~(\w+)/g)].map(([, type]) => type!)));
const schemas = new BuiltInSchemas(declarations);

function declarationFile(model: string): string {
  return join(declarationFiles, `${model}.d.ts`);
}

/** Lists the fields of a model of client-node: `name!: type`. */
function modelFields(type: string): string[] {
  const name = PREFIXES.map((prefix) => prefix + type).find(
    (candidate) => Object.hasOwn(models, candidate) && existsSync(declarationFile(candidate)),
  );
  if (name === undefined) return [];
  const required = new Set(
    [...readFileSync(declarationFile(name), "utf8").matchAll(/^ {4}'([^']+)': /gm)].map(([, field]) => field),
  );
  return models[name]!.getAttributeTypeMap().map(
    (field) => `${field.baseName}${required.has(field.name) ? "!" : ""}: ${modelType(field.type, field.format)}`,
  );
}

function modelType(type: string, format: string): string {
  const [, item, value] = /^Array<(.*)>$|^\{ \[key: string\]: (.*); \}$/.exec(type) ?? [];
  if (item !== undefined) return `[]${modelType(item, format)}`;
  if (value !== undefined) return `{}${modelType(value, format)}`;
  if (type === "string") return format === "byte" ? "bytes" : "string";
  if (type === "number") return format || "double";
  return SCALARS[type] ?? withoutPrefix(type);
}

function withoutPrefix(type: string): string {
  const prefix = PREFIXES.find((candidate) => candidate !== "" && type.startsWith(candidate)) ?? "";
  const name = type.slice(prefix.length);
  // Some types keep their prefix, because another type has the same name.
  return texts.has(type) ? type : name;
}

/** Formats a type as {@link modelType} does. In models, quantities are strings. */
function schemaType(schema: Schema): string {
  if (schema.type === "list") return `[]${schemaType(schema.item)}`;
  if (schema.type === "map") return `{}${schemaType(schema.value)}`;
  if (schema.type === "object") return schema.name;
  if (schema.type === "any") return "any";
  return schema.scalar === "quantity" ? "string" : schema.scalar;
}

test("declared types have the names, the types and the required fields of Kubernetes' API", () => {
  const types = [...texts.keys()].filter((type) => !inlined.has(type) || modelFields(type).length > 0);
  const declared = types.map((type) => [
    type,
    [...schemas.ofType(type).fields.values()].map(
      ({ name, required, schema }) => `${name}${required ? "!" : ""}: ${schemaType(schema)}`,
    ),
  ]);
  expect(declared.length).toBeGreaterThan(350);
  expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(types.map((type) => [type, modelFields(type)])));
});

test("every type that a field or an inlined message names is declared", () => {
  const named = [...texts.values()].flatMap((text) => [...text.matchAll(/(?<=[:~\]}])[A-Z]\w+/g)]);
  expect(named.map(([type]) => type).filter((type) => !texts.has(type))).toEqual([]);
});

test("a field, its marks and its type are read from one text", () => {
  const { fields } = new BuiltInSchemas([
    {
      fields: {
        Outer:
          "plain - ports!+*:[port,protocol=TCP]Inner flag?:boolean ~Inlined | " +
          "labels:{atomic}string ips:[patch:ip]Inner names:[apply:set]string gates:[name!]Inner selector=:Inner pointer+*",
        Inner: "| port+:int32",
        Inlined: "inside",
      },
    },
  ]).ofType("Outer");
  expect([...fields.keys()]).toEqual([
    "flag",
    "gates",
    "inside",
    "ips",
    "labels",
    "names",
    "plain",
    "pointer",
    "ports",
    "selector",
  ]);
  expect(fields.get("ports")).toMatchObject({ required: true, dropsZero: false, zero: null });
  expect(fields.get("ports")!.schema).toMatchObject({
    merge: { mergeKey: "port", retainKeys: false },
    listType: "map",
    keys: ["port", "protocol"],
    keyDefaults: { protocol: "TCP" },
  });
  expect(fields.get("flag")).toMatchObject({ required: false, dropsZero: true, zero: undefined });
  expect(fields.get("plain")).toMatchObject({ dropsZero: true, zero: undefined, schema: { scalar: "string" } });
  expect(fields.get("pointer")).toMatchObject({ dropsZero: false, zero: null });
  expect(fields.get("labels")!.schema).toMatchObject({ type: "map", atomic: true });
  expect(fields.get("ips")!.schema).toMatchObject({ merge: { mergeKey: "ip" }, listType: "atomic", keys: [] });
  expect(fields.get("names")!.schema).toMatchObject({ listType: "set", keys: [] });
  expect(fields.get("names")!.schema).not.toHaveProperty("merge");
  expect(fields.get("gates")!.schema).toMatchObject({ merge: { mergeKey: "name", retainKeys: true } });
  expect(fields.get("selector")).toMatchObject({ replaces: true });
});

test("protobuf numbers follow the order of the fields, up to the bar", () => {
  expect(schemas.numberedFields("EnvVar")).toEqual(["name", "value", "valueFrom"]);
  expect(schemas.numberedFields("NodeConfigSource")).toEqual(["-", "configMap"]);
  expect(schemas.numberedFields("Volume")).toEqual(["name", "~VolumeSource"]);
  expect(schemas.numberedFieldsOfKind("v1", "ConfigMap")).toEqual(["metadata", "data", "binaryData", "immutable"]);
  expect(schemas.numberedFieldsOfKind("apiextensions.k8s.io/v1", "CustomResourceDefinition")).toEqual([]);
});
