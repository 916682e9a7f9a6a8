import { expect, test } from "vitest";

import { cpuMs } from "../../test/cpu-time.js";
import { YamlDocument } from "./yaml-document.js";
import { YamlError } from "./yaml-error.js";

// `packages/cluster/test/kubectl-yaml.test.ts` compares the value of each text with kubectl.
test.each([
  ["yes", true],
  ["off", false],
  ["~", null],
  ["010", 8],
  ["0x1F", 31],
  ["1_000", 1000],
  ["08", 8],
  [".5", 0.5],
  ["-0.0", 0],
  ["1e400", "1e400"],
  ["18446744073709551616", 18446744073709552000],
  ["1:30", "1:30"],
  ["2001-12-14", "2001-12-14"],
  ["'yes'", "yes"],
  ["!!str 1", "1"],
])("%s", (text, value) => {
  expect(new YamlDocument(`a: ${text}\n`).value()).toEqual({ a: value });
});

test.each([
  ["a: .nan", "1:4", ".nan is a number that JSON cannot hold; write it in quotes"],
  ["a: 1\nb: *x", "2:4", "there is no anchor &x before the alias *x"],
  ["a: &x [*x]", "1:8", "the anchor &x contains itself; write the value out"],
  ["{~: 1}", "1:2", 'a key must be text, a number or a boolean; write "null" in quotes'],
  ["a: [1,\nb: }", "2:4", "a bracket is not closed: ] is expected"],
  ["a: {b: 1\n", "2:1", "a bracket is not closed: } is expected"],
  ["a: {<<: b}", "1:9", "map merge requires map or sequence of maps as the value"],
  ["[".repeat(20_000), "1:", "exceeded max depth of 500"],
  [`${"[".repeat(600)}${"]".repeat(600)}`, "1:", "exceeded max depth of 500"],
])("%.20s is refused with its place", (text, place, message) => {
  let refusal: unknown;
  try {
    new YamlDocument(text).value();
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(YamlError);
  const { line, column, message: actual } = refusal as YamlError;
  expect(`${line}:${column} ${actual}`).toMatch(new RegExp(`^${place}.*${message.replace(/[*[\]().]/g, "\\$&")}`));
});

test("a key called __proto__ is a key as any other", () => {
  const value = new YamlDocument("__proto__: { a: 1 }\n").value() as object;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect("a" in value).toBe(false);
});

test("the place of a value is found through aliases and lists, and of what is not there, that of its parent", () => {
  const document = new YamlDocument("a: &x\n  - b: 1\nc: *x\n");
  expect(document.place(["a", 0, "b"])).toEqual({ line: 2, column: 8 });
  expect(document.place(["a", 0, "b"], { atKey: true })).toEqual({ line: 2, column: 5 });
  expect(document.place(["c", 0, "b"])).toEqual({ line: 2, column: 8 });
  expect(document.place(["a", 7])).toEqual({ line: 2, column: 3 });
});

test("a document of very many keys and aliases is read in time that grows with its size", () => {
  const count = 50_000;
  const keys = Array.from({ length: count }, (_, index) => `k${index}: &a${index} v\nj${index}: *a${index}`);
  const startedMs = cpuMs();
  const document = new YamlDocument(keys.join("\n"));
  expect(Object.keys(document.value() as object)).toHaveLength(2 * count);
  expect(document.repeatedKeys()).toEqual([]);
  // Searching each anchor from the start takes minutes.
  expect(cpuMs() - startedMs).toBeLessThan(15_000);
});

test("indentation means nothing between quotes and brackets, and something again after them", () => {
  const text = "a:\n  b: 'one\n  two'\n  c: \"one\ntwo\"\n  d: [\n1, {\ne: one\ntwo\n}\n]\n  f: 1\ng: 2\n";
  const document = new YamlDocument(text);
  expect(document.value()).toEqual({
    a: { b: "one two", c: "one two", d: [1, { e: "one two" }], f: 1 },
    g: 2,
  });
  expect(document.place(["a", "f"])).toEqual({ line: 12, column: 6 });
});
