import { expect, test } from "vitest";

import { type JsonPatchError, jsonPatch } from "./json-patch.js";

test("changes neither the document nor the patch, whichever of their parts it puts together", () => {
  const document = { list: [{ a: 1 }], map: { b: 2 } };
  const value = { c: { d: 3 } };
  const operations = [
    { op: "add", path: "/new", value },
    { op: "add", path: "/new/c/e", value: 4 },
    { op: "replace", path: "/list/0/a", value: 5 },
    { op: "remove", path: "/map/b" },
  ];
  const before = structuredClone({ document, operations });
  expect(jsonPatch(document, operations)).toEqual({ list: [{ a: 5 }], map: {}, new: { c: { d: 3, e: 4 } } });
  expect({ document, operations }).toEqual(before);
});

test("a copy and what it was copied from go their own ways", () => {
  const operations = [
    { op: "add", path: "/from/own", value: true },
    { op: "copy", from: "/from", path: "/to" },
    { op: "replace", path: "/to/a", value: 2 },
    { op: "add", path: "/from/b", value: 3 },
    { op: "move", from: "/to/own", path: "/moved" },
  ];
  expect(jsonPatch({ from: { a: 1 } }, operations)).toEqual({
    from: { a: 1, own: true, b: 3 },
    to: { a: 2 },
    moved: true,
  });
});

test("copies of copies end at three mebibytes", () => {
  const operations = Array.from({ length: 40 }, (_, index) => ({ op: "copy", from: "", path: `/copy-${index}` }));
  expect(() => jsonPatch({ text: "x".repeat(1000) }, operations)).toThrow(
    expect.objectContaining({
      name: "JsonPatchError",
      message: expect.stringMatching(
        /^Unable to complete the copy, the accumulated size increase of copying is \d+, exceeding the limit 3145728$/,
      ),
    }) as JsonPatchError,
  );
});

test("ten thousand operations on a map of a hundred thousand members copy it once", () => {
  const document = { map: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key-${index}`, index])) };
  const operations = Array.from({ length: 10_000 }, (_, index) => ({ op: "remove", path: `/map/key-${index}` }));
  expect(Object.keys((jsonPatch(document, operations) as typeof document).map)).toHaveLength(90_000);
});
