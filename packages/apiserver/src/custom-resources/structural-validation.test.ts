import * as fc from "fast-check";
import { expect, test } from "vitest";

import { FieldErrors, errorBody } from "../field-errors.js";
import { validateListTypes } from "./list-types.js";
import { Patterns } from "./patterns.js";
import type { StructuralSchema } from "./structural-schema.js";
import { validateStructural } from "./structural-validation.js";

const patterns = new Patterns();
const RUNS = { numRuns: 200, seed: 7 };

/** Returns the errors of the value `v` of an object, each as `field: message`. */
function errorsOf(schema: StructuralSchema, v: unknown, old?: unknown): string[] {
  const errors = new FieldErrors();
  const root: StructuralSchema = { type: "object", properties: { v: schema } };
  const before = old === undefined ? undefined : { v: old };
  validateStructural(root, { v }, { errors, patterns, old: before });
  validateListTypes(root, { v }, errors, before);
  return errors.all.map((error) => `${error.field}: ${errorBody(error)}`);
}

const json = fc.oneof(
  fc.integer({ min: -50, max: 50 }),
  fc.double({ min: -50, max: 50, noNaN: true }),
  fc.string({ maxLength: 6 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 4 }),
  fc.dictionary(fc.string({ maxLength: 3 }), fc.integer(), { maxKeys: 4 }),
);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" ? (Number.isInteger(value) ? "integer" : "number") : typeof value;
}

test("a value must have the type of its schema, and the error names both types", () => {
  fc.assert(
    fc.property(fc.constantFrom("string", "integer", "number", "boolean", "array", "object"), json, (type, value) => {
      const actual = typeOf(value);
      const fits = actual === type || (type === "number" && actual === "integer");
      const wrong = `v: Invalid value: "${actual}": v in body must be of type ${type}: "${actual}"`;
      expect(errorsOf({ type }, value).slice(0, 1)).toEqual(fits ? [] : [wrong]);
    }),
    RUNS,
  );
});

test("number bounds are enforced, including exclusive bounds", () => {
  const bound = fc.option(fc.integer({ min: -20, max: 20 }), { nil: undefined });
  fc.assert(
    fc.property(
      fc.integer({ min: -25, max: 25 }),
      bound,
      bound,
      fc.boolean(),
      fc.boolean(),
      (value, low, high, xl, xh) => {
        const schema: StructuralSchema = {
          type: "integer",
          ...(low === undefined ? {} : { minimum: low, exclusiveMinimum: xl }),
          ...(high === undefined ? {} : { maximum: high, exclusiveMaximum: xh }),
        };
        const tooLow = low !== undefined && (xl ? value <= low : value < low);
        const tooHigh = high !== undefined && (xh ? value >= high : value > high);
        expect(errorsOf(schema, value)).toEqual([
          ...(tooLow
            ? [`v: Invalid value: ${value}: v in body should be greater than ${xl ? "" : "or equal to "}${low}`]
            : []),
          ...(tooHigh
            ? [`v: Invalid value: ${value}: v in body should be less than ${xh ? "" : "or equal to "}${high}`]
            : []),
        ]);
      },
    ),
    RUNS,
  );
});

test("multipleOf is enforced", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 40 }), (count, eighths) => {
      const factor = eighths / 8;
      expect(errorsOf({ type: "number", multipleOf: factor }, count * factor)).toEqual([]);
      expect(errorsOf({ type: "number", multipleOf: factor }, (count + 0.5) * factor)).toHaveLength(1);
    }),
    RUNS,
  );
});

test("string lengths count characters, not bytes", () => {
  const text = fc.string({ unit: "grapheme-composite", maxLength: 8 });
  fc.assert(
    fc.property(text, fc.nat(8), fc.nat(8), (value, min, max) => {
      const length = Array.from(value).length;
      expect(errorsOf({ type: "string", minLength: min, maxLength: max }, value)).toHaveLength(
        Number(length < min) + Number(length > max),
      );
    }),
    RUNS,
  );
});

test("numbers of items and members are bounded", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 6 }), fc.nat(6), fc.nat(6), (items, min, max) => {
      const wrong = Number(items.length < min) + Number(items.length > max);
      expect(errorsOf({ type: "array", items: { type: "integer" }, minItems: min, maxItems: max }, items)).toHaveLength(
        wrong,
      );
      const members = Object.fromEntries(items.map((item, index) => [`k${index}`, item]));
      const schema = {
        type: "object",
        additionalProperties: { type: "integer" },
        minProperties: min,
        maxProperties: max,
      };
      // With both too few and too many members, only the first error is reported.
      expect(errorsOf(schema, members)).toHaveLength(Math.min(1, wrong));
    }),
    RUNS,
  );
});

test("required members must be present", () => {
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
  fc.assert(
    fc.property(names, names, (required, present) => {
      const value = Object.fromEntries(present.map((name) => [name, 1]));
      const schema = { type: "object", additionalProperties: { type: "integer" }, required };
      expect(errorsOf(schema, value)).toEqual(
        required.filter((name) => !present.includes(name)).map((name) => `v.${name}: Required value`),
      );
    }),
    RUNS,
  );
});

test("an enum lists what is allowed, by value", () => {
  fc.assert(
    fc.property(
      fc.array(
        json.filter((value) => value !== null),
        { minLength: 1, maxLength: 30 },
      ),
      json,
      (allowed, value) => {
        const isListed = value !== null && allowed.some((one) => JSON.stringify(one) === JSON.stringify(value));
        expect(errorsOf({ enum: allowed, nullable: true }, value)).toHaveLength(isListed ? 0 : 1);
        for (const one of allowed) expect(errorsOf({ enum: allowed }, one)).toEqual([]);
      },
    ),
    RUNS,
  );
});

test("allOf, anyOf, oneOf and not follow logic", () => {
  const part = fc.oneof(
    fc
      .integer({ min: -10, max: 10 })
      .map((minimum): [StructuralSchema, (n: number) => boolean] => [{ minimum }, (n) => n >= minimum]),
    fc
      .integer({ min: -10, max: 10 })
      .map((maximum): [StructuralSchema, (n: number) => boolean] => [{ maximum }, (n) => n <= maximum]),
    fc
      .integer({ min: 1, max: 4 })
      .map((multipleOf): [StructuralSchema, (n: number) => boolean] => [{ multipleOf }, (n) => n % multipleOf === 0]),
  );
  const parts = fc.array(part, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(parts, fc.integer({ min: -12, max: 12 }), (alternatives, value) => {
      const schemas = alternatives.map(([schema]) => schema);
      const holding = alternatives.filter(([, holds]) => holds(value)).length;
      const accepts = (schema: StructuralSchema): boolean =>
        errorsOf({ type: "integer", ...schema }, value).length === 0;
      expect(accepts({ allOf: schemas })).toBe(holding === alternatives.length);
      expect(accepts({ anyOf: schemas })).toBe(holding > 0);
      expect(accepts({ oneOf: schemas })).toBe(holding === 1);
      expect(accepts({ not: schemas[0]! })).toBe(!alternatives[0]![1](value));
    }),
    RUNS,
  );
});

test("a duplicate in a set or map list is reported once, at its second index", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 7 }), (values) => {
      const places = values.flatMap((value, index) =>
        values.slice(0, index).filter((one) => one === value).length === 1 ? [index] : [],
      );
      const set: StructuralSchema = { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" };
      expect(errorsOf(set, values)).toEqual(places.map((index) => `v[${index}]: Duplicate value: ${values[index]}`));
      const keyed: StructuralSchema = {
        type: "array",
        items: { type: "object", properties: { k: { type: "integer" }, x: { type: "integer" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
      };
      const items = values.map((k, x) => ({ k, x }));
      expect(errorsOf(keyed, items)).toEqual(
        places.map((index) => `v[${index}]: Duplicate value: {"k":${values[index]}}`),
      );
    }),
    RUNS,
  );
});

test.each<[string, string[], string[]]>([
  ["date", ["2024-02-29"], ["2023-02-29", "2024-1-1", "x"]],
  [
    "date-time",
    ["2024-01-01T23:59:59.5+01:00", "2024-01-01t00:00:00z"],
    ["2024-01-01", "2024-01-01T25:00:00Z", "2024-13-01T00:00:00Z"],
  ],
  ["duration", ["1h30m", "-1.5s", "3 days", "P1D", "0"], ["long", "1 parsec", ""]],
  ["uuid", ["123e4567e89b12d3a456426614174000"], ["123e4567"]],
  ["ipv4", ["1.2.3.4"], ["1.2.3.256", "01.2.3.4", "::1"]],
  ["ipv6", ["::", "1::8", "::ffff:1.2.3.4"], ["1:2:3:4:5:6:7", "1::2::3", "1.2.3.4"]],
  ["cidr", ["10.1.2.3/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "::/129"]],
  ["mac", ["aa:bb:cc:dd:ee:ff", "aabb.ccdd.eeff"], ["aa:bb:cc", "gg:bb:cc:dd:ee:ff"]],
  ["hostname", ["a", "a-b.example"], ["-a", "a_b", "a..b"]],
  ["email", ["a@b", "A <a.b+c@example.com>"], ["a", "@b", "a@b@c"]],
  ["uri", ["https://a/b?c", "/path", "mailto:x"], ["plain", "http://a:b/", "/%zz"]],
  ["byte", ["aGk=", "YWJj"], ["a b", "aGk"]],
  ["isbn", ["0-306-40615-2", "978-3-16-148410-0"], ["0-306-40615-3", "1"]],
  ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]],
  ["hexcolor", ["#fff", "a1b2c3"], ["#ffff", "red"]],
  ["rgbcolor", ["rgb(0, 255,1)"], ["rgb(256,0,0)", "1,2,3"]],
  ["k8s-long-name", ["a.b-c"], ["a..b", "A"]],
  ["nonsense", ["anything"], []],
])("texts of the format %s", (format, right, wrong) => {
  for (const text of right) expect(errorsOf({ type: "string", format }, text), text).toEqual([]);
  for (const text of wrong)
    expect(errorsOf({ type: "string", format }, text)).toEqual([
      `v: Invalid value: ${JSON.stringify(text)}: v in body must be of type ${format}: ${JSON.stringify(text)}`,
    ]);
});

test("an unchanged invalid value is permitted, a changed one is refused", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {
      s: { type: "string", maxLength: 3 },
      m: { type: "object", additionalProperties: { type: "string", maxLength: 3 } },
      l: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: { type: "string" }, v: { type: "string", maxLength: 3 } } },
      },
      atomic: { type: "array", items: { type: "string", maxLength: 3 } },
    },
  };
  const text = fc.string({ maxLength: 6 });
  const value = fc.record({
    s: text,
    m: fc.dictionary(fc.constantFrom("a", "b", "c"), text),
    l: fc.uniqueArray(fc.record({ k: fc.constantFrom("a", "b", "c"), v: text }), { selector: ({ k }) => k }),
    atomic: fc.array(text, { maxLength: 3 }),
  });
  const long = (one: string, before: string | undefined): boolean => Array.from(one).length > 3 && one !== before;
  fc.assert(
    fc.property(value, value, (next, old) => {
      const expected =
        Number(long(next.s, old.s)) +
        Object.entries(next.m).filter(([key, one]) => long(one, old.m[key])).length +
        next.l.filter(({ k, v }) => long(v, old.l.find((item) => item.k === k)?.v)).length +
        (JSON.stringify(next.atomic) === JSON.stringify(old.atomic)
          ? 0
          : next.atomic.filter((one) => long(one, undefined)).length);
      expect(errorsOf(schema, next, old)).toHaveLength(expected);
      expect(errorsOf(schema, next, next)).toEqual([]);
    }),
    RUNS,
  );
});
