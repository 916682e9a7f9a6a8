import * as fc from "fast-check";
import { expect, test } from "vitest";

import { JsonDataError, jsonData } from "./json-data.js";

const REQUEST = { method: "PUT", path: "/apis/example.com/v1/namespaces/default/widgets/w?fieldManager=me" } as const;
const convert = (value: unknown): unknown => jsonData(value, REQUEST);

function messageOf(value: unknown): string {
  try {
    convert(value);
  } catch (error) {
    if (error instanceof JsonDataError) return error.message;
  }
  return expect.unreachable("it was not refused");
}

test("JSON data is returned as it is, not copied", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const data = JSON.parse(JSON.stringify(value), (_key, part: unknown) => Object.freeze(part)) as unknown;
      expect(convert(data)).toBe(data);
    }),
  );
});

test("an object with dates and undefined members is converted as JSON.stringify converts it, and stays unchanged", () => {
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.string(),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
      fc.date({ noInvalidDate: true }),
      fc.array(tie("value")),
      fc.dictionary(fc.string(), fc.oneof(fc.constant(undefined), tie("value"))),
      tie("value").map((value) => ({ toJSON: () => value })),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(fc.string(), anything), (value) => {
      const before = structuredClone(JSON.stringify(value));
      const data = convert(value);
      expect(data).toEqual(JSON.parse(before));
      expect(JSON.stringify(data)).toBe(before);
      expect(JSON.stringify(value)).toBe(before);
    }),
  );
});

test("a converted object shares the parts that are JSON data already", () => {
  const value = { metadata: { name: "w" }, spec: { due: new Date(0), parts: [{ name: "a" }], colour: undefined } };
  const data = convert(value) as typeof value;
  expect(data).toStrictEqual({
    metadata: { name: "w" },
    spec: { due: "1970-01-01T00:00:00.000Z", parts: [{ name: "a" }] },
  });
  expect(data.metadata).toBe(value.metadata);
  expect(data.spec.parts).toBe(value.spec.parts);
});

class Money {
  readonly #cents: number;
  readonly currency = "EUR";
  constructor(cents: number) {
    this.#cents = cents;
  }
  get cents(): number {
    return this.#cents;
  }
}

test.each<[string, unknown, unknown]>([
  ["an instance of a class has its own members", { a: new Money(1) }, { a: { currency: "EUR" } }],
  ["a boxed value is unpacked", { a: Object(1) as unknown, b: Object("x") as unknown }, { a: 1, b: "x" }],
  [
    "toJSON is called once, with the key",
    { a: { toJSON: (key: string) => ({ key, toJSON: 1 }) } },
    { a: { key: "a" } },
  ],
  ["a member is left out if its toJSON returns undefined", { a: { toJSON: () => undefined } }, {}],
  ["an object without a prototype is plain", Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
  ["a member of the name __proto__ stays", JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
])("%s", (_what, value, data) => {
  expect(JSON.stringify(convert(value))).toBe(JSON.stringify(data));
});

const CYCLE: Record<string, unknown> = { name: "a" };
CYCLE["children"] = [{ parent: CYCLE }];
const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

test.each<[unknown, string]>([
  [
    { spec: { size: Number.NaN } },
    "spec.size is NaN, which JSON cannot hold: set a finite number or leave the field out",
  ],
  [
    { spec: { sizes: [1, -Infinity] } },
    "spec.sizes[1] is -Infinity, which JSON cannot hold: set a finite number or leave the field out",
  ],
  [{ spec: { run: () => 1 } }, "spec.run is a function, which JSON cannot hold: leave the field out"],
  [{ spec: { id: Symbol("id") } }, "spec.id is a symbol, which JSON cannot hold: leave the field out"],
  [{ spec: { size: 1n } }, "spec.size is a bigint, which JSON cannot hold: convert it to a number or a string"],
  [
    { spec: { containers: [{ args: ["a", undefined] }] } },
    "spec.containers[0].args[1] is undefined, which JSON cannot hold: remove the element from the list",
  ],
  [
    { metadata: { annotations: { "example.com/due": new Date(Number.NaN) } } },
    'metadata.annotations["example.com/due"] is an invalid Date, which JSON cannot hold: set a valid time or leave the field out',
  ],
  [
    { metadata: { labels: new Map([["a", "b"]]) } },
    "metadata.labels is a Map, which JSON cannot hold: set a plain object or a list",
  ],
  [
    { spec: { owner: CYCLE } },
    "spec.owner.children[0].parent is an object that contains itself, which JSON cannot hold: remove the reference",
  ],
  [deep(1002), "a.a.a is nested more than 1000 levels deep, which JSON cannot hold: flatten the object"],
  [
    [{ op: "add", path: "/spec", value: Number.NaN }],
    "[0].value is NaN, which JSON cannot hold: set a finite number or leave the field out",
  ],
  [undefined, "the body is undefined, which JSON cannot hold: pass an object"],
])("what JSON cannot hold is refused with the field and the fix: %#", (value, message) => {
  expect(messageOf(value)).toBe(`PUT /apis/example.com/v1/namespaces/default/widgets/w: ${message}`);
});
