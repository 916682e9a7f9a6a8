import * as fc from "fast-check";
import { expect, test } from "vitest";

import { cpuMs } from "../../../test/cpu-time.js";
import { overlappingPaths } from "./overlapping-paths.js";

test.each<[readonly string[], readonly string[]]>([
  [["a", "b", "ab"], []],
  [["a", "a"], ['"a" with "a"']],
  [
    ["a", "a/b", "a/b/c"],
    ['"a/b" with "a"', '"a/b/c" with "a"'],
  ],
  [["a/b/c", "x", "a/b"], ['"a/b" with "a/b/c"']],
  [["", "/a"], ['"/a" with ""']],
  [["a/", "a"], ['"a" with "a/"']],
])("of %j overlap %j", (paths, overlaps) => {
  expect(overlappingPaths(paths)).toEqual(overlaps);
});

test("overlapping paths equal those of a pairwise comparison", () => {
  const path = fc.array(fc.constantFrom("a", "b", "", "ab"), { maxLength: 3 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), (paths) => {
      const compared = paths.flatMap((one, index) => {
        const other = paths
          .slice(0, index)
          .find((earlier) => one === earlier || one.startsWith(`${earlier}/`) || earlier.startsWith(`${one}/`));
        return other === undefined ? [] : [`"${one}" with "${other}"`];
      });
      expect(overlappingPaths(paths)).toEqual(compared);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test("the time for many long paths is linear in their total length", () => {
  const startedMs = cpuMs();
  expect(overlappingPaths(Array.from({ length: 100_000 }, (_, index) => `p${index}`))).toEqual([]);
  expect(overlappingPaths(["a/".repeat(1_000_000), "a"])).toHaveLength(1);
  expect(cpuMs() - startedMs).toBeLessThan(5000);
});
