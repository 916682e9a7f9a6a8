import { expect, test } from "vitest";

import { parseGoDurationMs } from "./go-duration.js";
import { goQuote } from "./go-quote.js";

test.each([
  ["1h30m", 5_400_000],
  ["-1.5s", -1500],
  ["+0", 0],
  ["100us", 0.1],
  [".5m", 30_000],
  ["00000000000000000000001.s", 1_000],
])("a duration in Go's form is read in milliseconds: %s", (text, ms) => {
  expect(parseGoDurationMs(text)).toBe(ms);
});

test.each([
  ["", 'time: invalid duration ""'],
  ["5", 'time: missing unit in duration "5"'],
  ["1d", 'time: unknown unit "d" in duration "1d"'],
  ["2562048h", 'time: invalid duration "2562048h"'],
  ["10000000000000000000ns", 'time: invalid duration "10000000000000000000ns"'],
  ["1h.m", 'time: invalid duration "1h.m"'],
])("what is no duration is refused in Go's words: %s", (text, message) => {
  expect(() => parseGoDurationMs(text)).toThrow(new SyntaxError(message));
});

test.each([
  ['a "b" \\', '"a \\"b\\" \\\\"'],
  ["\n\u0000\u007f\u0080", '"\\n\\x00\\x7f\\u0080"'],
  ["é 😀\u00a0", '"é 😀\\u00a0"'],
  ["\ud800", '"\ufffd"'],
])("a text is quoted as Go's strconv does: %j", (text, quoted) => {
  expect(goQuote(text)).toBe(quoted);
});
