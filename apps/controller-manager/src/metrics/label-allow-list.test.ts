import { expect, test } from "vitest";

import { parseLabelAllowList } from "./label-allow-list.js";

test("values are given by metric and label, with or without quotes; a flag outdoes the manifest", () => {
  const lists = parseLabelAllowList(["a_total,code='200, 404'", "a_total,verb=GET", 'b,x="1"'], {
    "a_total,code": "500",
    "c,y": "2,3",
  });
  expect(lists).toEqual(
    new Map([
      [
        "a_total",
        new Map([
          ["code", new Set(["200", "404"])],
          ["verb", new Set(["GET"])],
        ]),
      ],
      ["c", new Map([["y", new Set(["2", "3"])]])],
      ["b", new Map([["x", new Set(["1"])]])],
    ]),
  );
});

test.each([
  [["a_total"], {}, '"a_total" must be formatted as'],
  [["a_total='1'"], {}, `"a_total" must be a metric's name and a label's`],
  [[], { "a b,c": "1" }, `"a b,c" must be a metric's name and a label's`],
  [[], { "a,b": 1 }, 'the allowed values of "a,b" must be a text'],
])("%j with %j is refused", (flags, manifest, message) => {
  expect(() => parseLabelAllowList(flags, manifest)).toThrow(message);
});
