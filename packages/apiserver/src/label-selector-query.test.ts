import { expect, test } from "vitest";

import { parseLabelSelector } from "./label-selector-query.js";

const labels = { app: "web", tier: "front", size: "10" };

test.each([
  "app=web",
  "app==web",
  "app!=db",
  "app in (web, db)",
  "app notin (db)",
  "app,tier",
  "!missing",
  "size>9",
  "missing!=x",
  "app=web,tier=front",
])("%s selects", (text) => {
  expect(parseLabelSelector(text)!(labels)).toBe(true);
});

test.each(["app=db", "app in (db)", "!app", "missing", "size<10", "app=web,tier=back"])(
  "%s does not select",
  (text) => {
    expect(parseLabelSelector(text)!(labels)).toBe(false);
  },
);

test("what cannot be read is refused with upstream's words", () => {
  expect(() => parseLabelSelector("a=b c")).toThrow("found 'c', expected: ',' or 'end of string'");
  expect(() => parseLabelSelector("n in (")).toThrow(
    "unable to parse requirement: found '', expected: ',', ')' or identifier",
  );
});
