import { expect, test } from "vitest";

import { cpuMs } from "../test/cpu-time.js";
import { parseYaml, repeatedYamlKey } from "./yaml.js";

test.each([
  ["a block map", "a: 1\nb: 2\na: 3\n", 3, 1],
  ["a map within a list", "list:\n  - name: x\n    name: y\n", 3, 5],
  ["a flow map", "{a: 1, b: {c: 1, c: 2}}", 1, 18],
  ["JSON", '{"a": 1, "b": 2,\n "a": 3}', 2, 2],
  ["a key given once plain and once quoted", 'a: 1\n"a": 2\n', 2, 1],
])("a repeated key is complained about with its place: %s", (_what, text, line, column) => {
  expect(repeatedYamlKey(text)).toBe(`Map keys must be unique at line ${line}, column ${column}:`);
});

test("JSON is read as the YAML that it is", () => {
  const text = ' {"a": [1, 2.5, null, true], "b": {"c": "yes", "d": "\\u00e9\\/"}}\n';
  expect(parseYaml(text)).toEqual({ a: [1, 2.5, null, true], b: { c: "yes", d: "é/" } });
  expect(parseYaml("{a: yes}")).toEqual({ a: true });
  expect(repeatedYamlKey(text)).toBeUndefined();
});

test("equal keys of different maps are none", () => {
  expect(repeatedYamlKey("a: {x: 1}\nb: {x: 1}\nlist: [{x: 1}, {x: 2}]\n")).toBeUndefined();
});

test("the last of several equal keys wins, unless validation is strict", () => {
  expect(parseYaml("a: 1\na: 2\n")).toEqual({ a: 2 });
});

test("a map of very many keys is looked through once, not once for every key", () => {
  const keys = Array.from({ length: 40_000 }, (_, index) => `key-${index}: 1`);
  const startedMs = cpuMs();
  expect(repeatedYamlKey([...keys, "key-39999: 2"].join("\n"))).toContain("line 40001, column 1");
  // Comparing each key with all previous keys takes many seconds.
  expect(cpuMs() - startedMs).toBeLessThan(10_000);
});

test.each([
  ["a list of 300,000 items", "a:\n" + "- 1\n".repeat(300_000)],
  ["400,000 equal keys", "a:\n" + " b: 1\n".repeat(400_000)],
  ["120,000 anchors", Array.from({ length: 120_000 }, (_, index) => `- &a${index} 1\n`).join("")],
  ["brackets", "[" + "1,".repeat(300_000) + "]"],
])("%s is refused before it takes long", (_what, text) => {
  const startedMs = cpuMs();
  expect(() => parseYaml(text)).toThrow(/^line \d+: the document has more than 300000 tokens; send it as JSON$/);
  expect(cpuMs() - startedMs).toBeLessThan(3_000);
});

test("a definition of 20,000 lines is parsed", () => {
  expect(parseYaml("properties:\n" + "  - type: string\n".repeat(20_000))).toHaveProperty("properties.length", 20_000);
});
