import { readFile } from "node:fs/promises";
import path from "node:path";

import { expect, test } from "vitest";

import { readDefinitions } from "./read-definitions.js";
import { writeTypes } from "./write-types.js";

const FIXTURES = path.join(import.meta.dirname, "../../test/fixtures");
const CERTIFICATES = path.join(FIXTURES, "certificate-crd.yaml");

async function written(file: string) {
  return writeTypes(readDefinitions(file, await readFile(file, "utf8")));
}

/** Writes the types of a definition whose spec has these properties. */
function ofSpec(properties: object, names: { kind?: string; plural?: string } = {}) {
  const { kind = "Thing", plural = "things" } = names;
  const schema = { type: "object", properties: { spec: { type: "object", properties } } };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const spec = { group: "example.com", scope: "Cluster", names: { kind, plural }, versions: [version] };
  return writeTypes([{ metadata: { name: `${plural}.example.com` }, spec }]);
}

test("a definition becomes interfaces and a resource definition for each served version", async () => {
  const { text } = await written(CERTIFICATES);
  // The module is type-checked with the tests, and used in written-types.test-d.ts.
  await expect(text).toMatchFileSnapshot(path.join(FIXTURES, "certificate-types.ts"));
  expect(text.indexOf("TLSCertificate extends")).toBeLessThan(text.indexOf("TLSCertificateV1alpha1 extends"));
  expect(text).not.toContain("V1beta1");
});

test("equal definitions give equal text", async () => {
  const definitions = readDefinitions("a.yaml", await readFile(CERTIFICATES, "utf8"));
  expect(writeTypes(structuredClone(definitions)).text).toBe(writeTypes(definitions).text);
});

test("what a type does not express is a warning with the path of the schema", async () => {
  const { warnings } = await written(CERTIFICATES);
  const spec = "spec.versions[1].schema.openAPIV3Schema.properties.spec";
  expect(warnings.map(({ path: at, text }) => `${at}: ${text}`)).toEqual([
    `${spec}.oneOf: is not expressed: the type allows more than the API server`,
    `${spec}.properties.checks.items.properties.not-in.not: is not expressed: the type allows more than the API server`,
    `${spec}.properties.legacy: has no type, so the type is unknown`,
  ]);
  expect(new Set(warnings.map(({ definition }) => definition))).toEqual(new Set(["tlscertificates.certs.example.com"]));
});

test("a broken schema is unknown and a warning, and the rest of the module is written", () => {
  const { text, warnings } = ofSpec({
    "a.b": "string",
    set: { type: "set" },
    mixed: { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } },
    parts: { type: "array", items: { enum: [{ a: 1 }], type: "object" } },
  });
  expect(text).toContain('  "a.b"?: unknown;\n  set?: unknown;\n  mixed?: ThingSpecMixed;\n');
  const spec = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties";
  expect(warnings.map(({ path: at, text: problem }) => `${at}: ${problem}`)).toEqual([
    `${spec}["a.b"]: is no schema, so the type is unknown`,
    `${spec}.set: has the type "set", so the type is unknown`,
    `${spec}.mixed.additionalProperties: stands beside properties, so the type of other fields is unknown`,
    `${spec}.parts.items.enum: lists values that are no literals, so the type allows others`,
  ]);
});

test("names that are taken get a number, and plurals the case of their kind", () => {
  const nested = { type: "object", properties: { x: { type: "string" } } };
  const { text } = ofSpec({ "a-b": nested, aB: nested, values: { type: "object", additionalProperties: nested } });
  expect(text).toContain('  "a-b"?: ThingSpecAB;\n  aB?: ThingSpecAB2;\n  values?: Record<string, ThingSpecValues>;\n');
  expect(ofSpec({}, { kind: "Record", plural: "records" }).text).toContain(
    "interface Record2 extends KubernetesObject",
  );
  for (const [kind, plural, name] of [
    ["HTTPRoute", "httproutes", "httpRoutes"],
    ["VPA", "vpas", "vpas"],
    ["NetworkPolicy", "networkpolicies", "networkPolicies"],
    ["EC2Instance", "ec2instances", "ec2Instances"],
    ["Class", "class", "_class"],
    ["Thing", "others", "others"],
  ] as const)
    expect(ofSpec({}, { kind, plural }).text).toContain(`export const ${name} = defineResource<${kind}>`);
});

test("files have definitions in documents, lists and JSON; other kinds are skipped", async () => {
  const [definition] = readDefinitions("a.yaml", await readFile(CERTIFICATES, "utf8"));
  const list = { apiVersion: "v1", kind: "List", items: [definition, { kind: "ConfigMap" }] };
  expect(readDefinitions("a.json", JSON.stringify(list))).toEqual([definition]);
  expect(readDefinitions("a.yaml", `kind: Namespace\n---\n${JSON.stringify(definition)}\n---\n`)).toEqual([definition]);
});

test("a file without readable definitions is one line with the file", () => {
  const failing = (text: string) => () => readDefinitions("a.yaml", text);
  expect(failing("kind: Secret")).toThrow(
    "a.yaml: has no CustomResourceDefinition: name a file with kind: CustomResourceDefinition",
  );
  expect(failing("a: [\nb: {{ .Values.x }}")).toThrow(/^a\.yaml:\d+:\d+: [^\n]+$/);
  expect(
    failing("{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: x}}"),
  ).toThrow(
    "a.yaml: CustomResourceDefinition x has apiVersion apiextensions.k8s.io/v1beta1: convert it to apiextensions.k8s.io/v1",
  );
  expect(
    failing("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {}}"),
  ).toThrow("a.yaml: CustomResourceDefinition x has no spec.group");
});
