import { expect, test } from "vitest";

import { mergePatched } from "./merge-patch.js";

test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [undefined, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: "b" }, { a: undefined }, { a: "b" }],
])("%j patched with %j is %j (RFC 7386, appendix A)", (value, patch, result) => {
  expect(mergePatched(value, patch)).toEqual(result);
});

test("what a patch leaves alone stays the same object", () => {
  const value = { kept: { a: 1 }, changed: { b: 2 } };
  const patched = mergePatched(value, { changed: { b: 3 } }) as typeof value;
  expect(patched.kept).toBe(value.kept);
  expect(value.changed.b).toBe(2);
});
