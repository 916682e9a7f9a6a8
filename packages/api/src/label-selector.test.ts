import { expect, test } from "vitest";

import { formatLabelSelector, labelSelectorMatcher } from "./label-selector.js";

test.each([
  ["an absent selector matches nothing", undefined, { a: "b" }, false],
  ["an empty selector matches everything", {}, undefined, true],
  ["matchLabels needs every label", { matchLabels: { a: "b", c: "d" } }, { a: "b", c: "d", e: "f" }, true],
  ["matchLabels with another value", { matchLabels: { a: "b" } }, { a: "x" }, false],
  ["In", { matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] }, { a: "c" }, true],
  ["In without the label", { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }, {}, false],
  [
    "NotIn also matches objects without the label",
    { matchExpressions: [{ key: "a", operator: "NotIn", values: ["b"] }] },
    {},
    true,
  ],
  [
    "NotIn with a listed value",
    { matchExpressions: [{ key: "a", operator: "NotIn", values: ["b"] }] },
    { a: "b" },
    false,
  ],
  ["Exists", { matchExpressions: [{ key: "a", operator: "Exists" }] }, { a: "" }, true],
  ["DoesNotExist", { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }, { a: "" }, false],
  [
    "a label named like an object method is just absent",
    { matchExpressions: [{ key: "toString", operator: "Exists" }] },
    {},
    false,
  ],
])("%s", (_title, selector, labels, matches) => {
  expect(labelSelectorMatcher(selector)(labels)).toBe(matches);
});

test("an unknown operator is named", () => {
  expect(() => labelSelectorMatcher({ matchExpressions: [{ key: "a", operator: "Near" }] })).toThrow(
    '"Near" is not a valid label selector operator',
  );
});

test("a selector prints in query syntax, sorted by key, a label before an expression on it", () => {
  const selector = {
    matchLabels: { z: "1", a: "2" },
    matchExpressions: [
      { key: "k", operator: "In", values: ["y", "x"] },
      { key: "gone", operator: "DoesNotExist" },
      { key: "a", operator: "Exists" },
    ],
  };
  expect(formatLabelSelector(selector)).toBe("a=2,a,!gone,k in (x,y),z=1");
  expect(formatLabelSelector(undefined)).toBe("");
});
