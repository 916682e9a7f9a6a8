import { expect, test } from "vitest";

import { deepFreeze, mutableCopy } from "./readonly.js";

test("a copy is equal and shares nothing", () => {
  const original = deepFreeze({ a: [{ b: 1 }, null], c: { d: "x" } });
  const copy = mutableCopy(original);
  expect(copy).toEqual(original);
  copy.a.push({ b: 2 });
  copy.c.d = "y";
  expect(original).toEqual({ a: [{ b: 1 }, null], c: { d: "x" } });
});

test("a key named __proto__ is copied as data and pollutes nothing", () => {
  const copy = mutableCopy(JSON.parse('{"__proto__": {"polluted": true}}') as object);
  expect(Object.hasOwn(copy, "__proto__")).toBe(true);
  expect((copy as { polluted?: boolean }).polluted).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("writing to anything inside a frozen object throws", () => {
  const frozen: { list: { x: number }[] } = deepFreeze({ list: [{ x: 1 }] });
  expect(() => (frozen.list[0]!.x = 2)).toThrow(TypeError);
  expect(() => frozen.list.push({ x: 3 })).toThrow(TypeError);
});
