import { expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { customResourceDefinitionStrategy as strategy } from "./strategy.js";

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const version = (more: object = {}): object => ({
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object" } },
  ...more,
});
const schema = (spec: object): object => ({
  versions: [version({ schema: { openAPIV3Schema: { type: "object", properties: { spec } } } })],
});
const definition = (spec: object = {}): object => ({
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [version()],
    ...spec,
  },
});
const path = "spec.validation.openAPIV3Schema.properties[spec]";

test("a CRD gets default names and its stored version", () => {
  const { object, message } = create(strategy, definition());
  expect(message).toBe("");
  expect(object).toMatchObject({
    metadata: { generation: 1 },
    spec: { names: { singular: "widget", listKind: "WidgetList" }, conversion: { strategy: "None" } },
    status: { storedVersions: ["v1"], acceptedNames: { kind: "", plural: "" } },
  });
});

test.each<[object, string]>([
  [
    { group: "other.com" },
    'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
  ],
  [{ scope: "Galactic" }, 'spec.scope: Unsupported value: "Galactic": supported values: "Cluster", "Namespaced"'],
  [
    { versions: [] },
    "[spec.versions: Invalid value: []: must have exactly one version marked as storage version, status.storedVersions: Invalid value: null: must have at least one stored version]",
  ],
  [
    { versions: [version({ name: "Bad" })] },
    `[spec.versions[0].name: Invalid value: "Bad": ${DNS_1035}, spec.version: Invalid value: "Bad": ${DNS_1035}]`,
  ],
  [{ versions: [version({ schema: undefined })] }, "spec.versions[0].schema.openAPIV3Schema: Required value"],
  [
    { preserveUnknownFields: true },
    "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
  ],
  [
    { versions: [version({ additionalPrinterColumns: [{ name: "A", type: "odd", jsonPath: ".spec.a" }] })] },
    'spec.additionalPrinterColumns[0].type: Invalid value: "odd": must be one of boolean,date,integer,number,string',
  ],
  [schema({ properties: {} }), `${path}.type: Required value: must not be empty for specified object fields`],
  [schema({ type: "array" }), `${path}.items: Required value: must be specified`],
  [
    schema({ type: "weird" }),
    `${path}.type: Unsupported value: "weird": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ],
  [
    schema({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
    `${path}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
  ],
  [
    schema({ type: "string", default: 5 }),
    `${path}.default: Invalid value: "integer":  in body must be of type string: "integer"`,
  ],
  [
    schema({ type: "string", pattern: "(" }),
    `${path}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
  ],
  [
    schema({ type: "array", items: { type: "string", pattern: "(?<!a)b" } }),
    `${path}.items.pattern: Invalid value: "(?<!a)b": must be a valid regular expression, but isn't: error parsing regexp: invalid named capture: \`(?<!a)b\``,
  ],
])("a definition with %j is refused", (spec, message) => {
  expect(create(strategy, definition(spec)).message).toBe(message);
});

test("names and scope of an established CRD are immutable", () => {
  const { object } = create(strategy, definition());
  object.status!.conditions = [{ type: "Established", status: "True" }];
  const { message } = update(strategy, object, ({ spec }) => Object.assign(spec, { scope: "Cluster" }));
  expect(message).toBe('spec.scope: Invalid value: "Cluster": field is immutable');
});
