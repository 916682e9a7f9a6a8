import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

test("every case of the behaviour reference names tests that there are", () => {
  const rows = readFileSync(path.join(import.meta.dirname, "../test/cases.md"), "utf8").matchAll(
    /^\| +(\d+) \| (.*?) +\|$/gm,
  );
  const cases = Array.from(rows, ([, number, tests]) => ({ number: Number(number), tests: tests!.split("<br>") }));
  expect(cases.map(({ number }) => number)).toEqual(Array.from({ length: 155 }, (_, position) => position + 1));
  const missing = cases.flatMap(({ tests }) =>
    tests.filter((text) => {
      const [, file, title] = /^`(.+)`: (.+)$/.exec(text)!;
      const source = file!.replace(/^\.\.\/(.+)\//, "../../$1/src/");
      return !readFileSync(path.join(import.meta.dirname, `${source}.test.ts`), "utf8").includes(title!);
    }),
  );
  expect(missing).toEqual([]);
});
