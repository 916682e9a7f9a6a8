import { expect, test } from "vitest";

import { quickChecks } from "./quick-checks.ts";

test("a changed source brings the tests beside the sources of its package", () => {
  const changed = ["packages/job/src/sync-job.ts", "packages/job/src/sync-job.test.ts", "tooling/chart.test.ts"];
  expect(quickChecks(changed).tests).toEqual(["packages/job/src/", "tooling/chart.test.ts"]);
});

test("a changed test with a browser or processes is named, and not run", () => {
  const changed = ["apps/simulator/test/page.test.ts"];
  expect(quickChecks(changed)).toMatchObject({ tests: [], longTests: changed, code: changed });
});

test("a changed document brings only a check of its words", () => {
  const changed = ["docs/input.md", "action.yml"];
  expect(quickChecks(changed)).toEqual({ tests: [], longTests: [], code: [], texts: ["docs/input.md"] });
});
