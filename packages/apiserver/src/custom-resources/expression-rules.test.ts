import * as fc from "fast-check";
import { expect, test } from "vitest";

import { cpuMs } from "../../test/cpu-time.js";
import { FieldErrors, errorBody } from "../field-errors.js";
import { ExpressionRules, RuleCompiler } from "./expression-rules.js";
import type { StructuralSchema, ValidationRule } from "./structural-schema.js";

const compiler = new RuleCompiler();

function run(schema: StructuralSchema, v: unknown, old?: unknown): { errors: string[]; warnings: readonly string[] } {
  const found = new FieldErrors();
  const rules = ExpressionRules.of({ type: "object", properties: { v: schema } }, compiler)!;
  rules.validate({ v }, found, old === undefined ? undefined : { v: old });
  return { errors: found.all.map((error) => `${error.field}: ${errorBody(error)}`), warnings: found.warnings };
}

const rules = (...list: ValidationRule[]): StructuralSchema => ({ "x-kubernetes-validations": list });
const INT: StructuralSchema = { type: "integer" };

test("a failing rule warns for an unchanged value; a failing transition rule always refuses", () => {
  const old = {
    ...INT,
    ...rules({ rule: "self < 3", message: "small" }, { rule: "oldSelf != 5", message: "was five" }),
  };
  fc.assert(
    fc.property(fc.nat(6), fc.nat(6), (next, before) => {
      const { errors, warnings } = run(old, next, before);
      const fails = next >= 3 ? [`v: Invalid value: ${next}: small`] : [];
      expect(warnings).toEqual(next === before ? fails : []);
      expect(errors).toEqual([
        ...(next === before ? [] : fails),
        ...(before === 5 ? [`v: Invalid value: ${next}: was five`] : []),
      ]);
    }),
    { seed: 3 },
  );
});

test("items of a map list are correlated with their old values by key, in any order", () => {
  const list: StructuralSchema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: {
      type: "object",
      properties: { k: { type: "string" }, n: { ...INT, ...rules({ rule: "self >= oldSelf" }) } },
    },
  };
  const items = fc.uniqueArray(fc.record({ k: fc.constantFrom("a", "b", "c", "d"), n: fc.nat(4) }), {
    selector: ({ k }) => k,
  });
  fc.assert(
    fc.property(items, items, (next, before) => {
      const fallen = next.flatMap(({ k, n }, index) => {
        const was = before.find((item) => item.k === k);
        return was !== undefined && n < was.n
          ? [`v[${index}].n: Invalid value: ${n}: failed rule: self >= oldSelf`]
          : [];
      });
      expect(run(list, next, before).errors).toEqual(fallen);
    }),
    { seed: 3 },
  );
});

test("a rule with optionalOldSelf also runs on create", () => {
  const schema = { ...INT, ...rules({ rule: "!oldSelf.hasValue() || oldSelf.value() < self", optionalOldSelf: true }) };
  expect(run(schema, 1).errors).toEqual([]);
  expect(run(schema, 1, 1).errors).toHaveLength(1);
  expect(run(schema, 2, 1).errors).toEqual([]);
});

test("a rule that exceeds its cost limit is stopped, and no other rule runs", () => {
  const dear = "self.all(x, self.all(y, self.all(z, x + y + z >= 0)))";
  const schema = { type: "array", items: INT, ...rules({ rule: dear, message: "dear" }, { rule: "false" }) };
  const { errors } = run(
    schema,
    Array.from({ length: 200 }, (_, index) => index),
  );
  expect(errors).toEqual([
    "v: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: dear",
  ]);
});

test("a missing overload for a dyn value is reported with the rule", () => {
  const schema = { "x-kubernetes-int-or-string": true, ...rules({ rule: "self.startsWith('a')" }) };
  expect(run(schema, "abc").errors).toEqual([]);
  expect(run(schema, 5).errors).toEqual([
    "v: Invalid value: \"\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.startsWith('a')",
  ]);
});

test.each<[ValidationRule, string]>([
  [{ rule: "self > 5", messageExpression: "'is ' + string(self)" }, "v: Invalid value: 1: is 1"],
  [{ rule: "self > 5", messageExpression: "'  '", message: "plain" }, "v: Invalid value: 1: plain"],
  [{ rule: "self > 5", messageExpression: "'a\\nb'" }, "v: Invalid value: 1: failed rule: self > 5"],
  [{ rule: "self > 5", messageExpression: "string(1 / 0)" }, "v: Invalid value: 1: failed rule: self > 5"],
  [{ rule: " self > 5 ", reason: "FieldValueRequired" }, "v: Required value: failed rule: self > 5"],
  [{ rule: "self > 5", reason: "FieldValueDuplicate", message: "m" }, "v: Duplicate value: 1"],
  [{ rule: "1 / (self - 1) > 0", message: "m" }, 'v: Invalid value: "integer": division by zero evaluating rule: m'],
])("%j says %s", (rule, message) => {
  expect(run({ ...INT, ...rules(rule) }, 1).errors).toEqual([message]);
});

const SET: StructuralSchema = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } };

test("sets and map lists are merged by key, other lists are concatenated", () => {
  const items = { type: "object", properties: { k: { type: "string" }, n: INT } };
  const byKey: StructuralSchema = {
    type: "array",
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  };
  const before = [
    { k: "a", n: 1 },
    { k: "b", n: 2 },
  ];
  const next = [
    { k: "c", n: 3 },
    { k: "a", n: 4 },
  ];
  const joined = (schema: StructuralSchema, numbers: readonly number[]): StructuralSchema => ({
    ...schema,
    ...rules({ rule: `(oldSelf + self).map(x, x.n) == [${numbers.join()}] && (oldSelf + self)[2].k == "c"` }),
  });
  expect(run(joined(byKey, [4, 2, 3]), next, before).errors).toEqual([]);
  expect(run(joined({ type: "array", items }, [1, 2, 3, 4]), next, before).errors).toEqual([]);
  const set = { ...SET, ...rules({ rule: 'self + ["b", "c"] == ["a", "b", "c"] && self + self == self' }) };
  expect(run(set, ["a", "b"]).errors).toEqual([]);
});

test("a rule that spends its budget on large sets and maps ends quickly", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: { set: SET, map: { type: "object", additionalProperties: INT } },
    ...rules({
      rule: "self.set.all(a, self.set.all(b, (self.set + [a, b]).size() == self.map.size() + self.map['0']))",
    }),
  };
  const set = Array.from({ length: 3000 }, (_, index) => `${index}`);
  const startedMs = cpuMs();
  const { errors } = run(schema, { set, map: Object.fromEntries(set.map((name) => [name, 0])) });
  const tookMs = cpuMs() - startedMs;
  expect(errors.join()).toContain("call cost exceeds limit");
  // Took minutes when each step iterated over all items.
  expect(tookMs).toBeLessThan(10_000);
});
