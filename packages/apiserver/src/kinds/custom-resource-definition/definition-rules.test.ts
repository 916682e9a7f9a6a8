import { expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { customResourceDefinitionStrategy as strategy } from "./strategy.js";

const PATH = "spec.validation.openAPIV3Schema.properties[spec]";
const text = { type: "string", maxLength: 10 };

function definition(spec: object, more: object = {}): object {
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema, ...more }],
    },
  };
}

const rule = (...rules: object[]): object => ({ "x-kubernetes-validations": rules });
const nested = (schema: object): object => ({ type: "object", properties: { a: { type: "array", items: schema } } });

test.each<[object, string]>([
  [
    nested({ type: "object", nullable: true, oneOf: [{ nullable: true }] }),
    `${PATH}.properties[a].items.oneOf[0].nullable: Forbidden: must be false to be structural`,
  ],
  [
    nested({ type: "object", not: { properties: { x: { default: 1 } } } }),
    `${PATH}.properties[a].items.not.properties[x].default: Forbidden: must be undefined to be structural`,
  ],
  [
    nested({ type: "string", "x-kubernetes-map-type": "atomic" }),
    `${PATH}.properties[a].items.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`,
  ],
  [{ type: "object", additionalProperties: nested({ type: "integer", default: "x" }) }, ""],
  [
    nested({ type: "object", properties: { x: { ...text, default: "far too long" } } }),
    `${PATH}.properties[a].items.properties[x].default: Too long: may not be more than 10 bytes`,
  ],
  [
    nested({ type: "object", default: { x: 1 } }),
    `${PATH}.properties[a].items.default: Invalid value: {"x":1}: must not have unknown fields`,
  ],
  [
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: { ...text, nullable: true } } },
    },
    `${PATH}.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
  ],
  [
    { type: "object", properties: { x: text }, ...rule({ rule: "self.x == 'a'", fieldPath: ".y" }) },
    `${PATH}.x-kubernetes-validations[0].fieldPath: Invalid value: ".y": must be a valid path`,
  ],
  [
    nested({ type: "integer", ...rule({ rule: "self >= oldSelf" }) }),
    `${PATH}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self >= oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${PATH}.properties[a]`,
  ],
  [
    {
      type: "object",
      properties: { x: text },
      default: { x: "b" },
      ...rule({ rule: "self.x == 'a'", message: "only a" }),
    },
    `${PATH}.default: Invalid value: only a`,
  ],
  [
    { type: "integer", allOf: [rule({ rule: "self > 0" })] },
    `${PATH}.allOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural`,
  ],
])("the schema %j is refused as upstream refuses it", (spec, message) => {
  expect(create(strategy, definition(spec)).message).toBe(message);
});

test("a rule's cost is multiplied by the cardinality of its values, and an unbounded list may fill a request", () => {
  const dear = (max: object): object => ({
    type: "array",
    ...max,
    items: { type: "string", maxLength: 1000, ...rule({ rule: "self.contains('0123456789')" }) },
  });
  expect(create(strategy, definition(dear({ maxItems: 1000 }))).message).toBe("");
  expect(create(strategy, definition(dear({ maxItems: 1_000_000 }))).message).toContain(
    "estimated rule cost exceeds budget by factor of 10.1x",
  );
  expect(create(strategy, definition(dear({}))).message).toContain(
    "estimated rule cost exceeds budget by factor of 10.6x",
  );
});

test("the total cost of rules is limited, and the most expensive rules are reported", () => {
  const dear = {
    type: "array",
    maxItems: 90_000,
    items: { type: "string", maxLength: 1000, ...rule({ rule: "self.contains('0123456789')" }) },
  };
  const properties = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, dear]));
  const { message } = create(strategy, definition({ type: "object", properties }));
  expect(message).not.toContain("estimated rule cost exceeds budget");
  expect(message.match(/contributed to estimated rule cost total/g)).toHaveLength(10);
  expect(message).toContain("estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.09");
});

test("an unchanged stored schema is not validated again", () => {
  const { object } = create(strategy, definition({ type: "object" }));
  const versions = (object.spec as { versions: { schema: object }[] }).versions;
  versions[0]!.schema = { openAPIV3Schema: { type: "object", nullable: true } };
  const renamed = update(strategy, object, ({ spec }) => Object.assign(spec.names, { shortNames: ["w"] }));
  expect(renamed.message).toBe("");
});

test("a stored version is recorded and cannot be removed", () => {
  const { object } = create(strategy, definition({ type: "object" }));
  const moved = update(strategy, object, ({ spec }) => {
    const [first] = spec.versions;
    Object.assign(spec, {
      versions: [
        { ...first, storage: false },
        { ...first, name: "v2" },
      ],
    });
  });
  expect(moved.object.status).toMatchObject({ storedVersions: ["v1", "v2"] });
  const left = update(strategy, moved.object, ({ spec }) => Object.assign(spec, { versions: [spec.versions[1]] }));
  expect(left.message).toContain(
    'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version',
  );
});
