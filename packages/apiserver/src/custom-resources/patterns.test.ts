import { RE2JS } from "re2js";
import { instructionCount } from "@kubewright/cel";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { PatternChecker, Patterns } from "./patterns.js";

test.each<[string, string, boolean]>([
  ["(?i)abc", "xABCx", true],
  ["^\\pL+$", "äöü", true],
  ["^\\p{Greek}$", "a", false],
  ["\\Aabc\\z", "abc", true],
  ["^(?P<first>a+)(?<second>b)$", "aab", true],
  ["^.$", "😀", true],
  [".", "\n", false],
  ["(?s).", "\n", true],
  ["^\\d$", "٣", false],
  ["^[[:alpha:]]+$", "abc", true],
  ["b", "abc", true],
])("%s is matched with %j as Go matches it", (pattern, text, matches) => {
  expect(new Patterns().get(pattern)!.test(text)).toBe(matches);
});

const NESTED = "(".repeat(1001) + ")".repeat(1001);

test.each([
  ["(", "error parsing regexp: missing closing ): `(`"],
  ["a)", "error parsing regexp: unexpected ): `a)`"],
  ["[a", "error parsing regexp: missing closing ]: `[a`"],
  ["a**", "error parsing regexp: invalid nested repetition operator: `**`"],
  ["*a", "error parsing regexp: missing argument to repetition operator: `*`"],
  ["a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"],
  ["(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
  ["\\1", "error parsing regexp: invalid escape sequence: `\\1`"],
  ["\\p{Foo}", "error parsing regexp: invalid character class range: `\\p{Foo}`"],
  ["(?P<n>a)(?P<n>b)", "error parsing regexp: duplicate capture group name: `n`"],
  ["a\\", "error parsing regexp: trailing backslash at end of expression: ``"],
  ["x{1000}".repeat(1000), `error parsing regexp: expression too large: \`${"x{1000}".repeat(1000)}\``],
  [NESTED, `error parsing regexp: expression nests too deeply: \`${NESTED}\``],
])("a pattern is refused in Go's words: %#", (pattern, error) => {
  expect(new PatternChecker().errorOf(pattern)).toBe(error);
});

test("patterns that are too large in total are refused, and a repeated pattern counts once", () => {
  const patterns = new PatternChecker();
  for (let time = 0; time < 1000; time++) expect(patterns.errorOf("^[a-z]{1,1000}$")).toBeUndefined();
  const refused = Array.from({ length: 1000 }, (_, index) => patterns.errorOf(`^x{1000}y{${index}}$`)).filter(Boolean);
  expect(refused.length).toBeGreaterThan(800);
  expect(refused[0]).toMatch(/^error parsing regexp: expression too large: `/);
});

test("the pattern cache is bounded, and eviction does not change results", () => {
  const patterns = new Patterns();
  const text = "ab".repeat(20_000);
  for (let index = 0; index < 500; index++) {
    const pattern = patterns.get(`[ab]*a[ab]{13}c{${index}}$`)!;
    expect(pattern.test(text)).toBe(index === 0);
    expect(pattern.test(`${text}${"c".repeat(index)}`)).toBe(true);
  }
});

const atom = fc.constantFrom(
  "a",
  "bc",
  "\\d",
  "[x-z]",
  "[[:alpha:]_]",
  "[]a{9}]",
  "\\Qa{7}\\E",
  "\\pL",
  ".",
  "^",
  "😀",
);
const expression = fc.letrec<{ whole: string; part: string; group: string }>((tie) => ({
  whole: fc.array(tie("part"), { maxLength: 5 }).map((parts) => parts.join("")),
  part: fc
    .tuple(
      fc.oneof({ withCrossShrink: true }, atom, atom, tie("group")),
      fc.constantFrom("", "*", "+?", "{3}", "{0,20}", "{2,}", "|"),
    )
    .map(([what, repeated]) => what + repeated),
  group: fc
    .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?P<n>"), tie("whole"))
    .map(([open, whole]) => `${open}${whole})`),
})).whole;

test("the estimated size of a pattern is never much less than its actual size", () => {
  fc.assert(
    fc.property(expression, (pattern) => {
      let size: number;
      try {
        size = RE2JS.compile(pattern).programSize();
      } catch {
        return;
      }
      expect(size).toBeLessThanOrEqual(2 * instructionCount(pattern) + 10);
    }),
    { seed: 1, numRuns: 1500 },
  );
});
