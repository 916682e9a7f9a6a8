import { expect, test } from "vitest";

import { remainingBackoffMs } from "./backoff.js";
import { defaultJobLimits } from "./job-limits.js";
import { isManagedElsewhere } from "./job-spec.js";

test("other limits make other pauses, doubled up to the longest", () => {
  const limits = { ...defaultJobLimits, podBackoffBaseMs: 100, podBackoffMaxMs: 2_000 };
  const pauses = [1, 2, 3, 4, 5, 6, 2_000].map((failures) => remainingBackoffMs(failures, 0, 0, limits));
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
});

test("a short base still reaches a long maximum", () => {
  const limits = { ...defaultJobLimits, podBackoffBaseMs: 1, podBackoffMaxMs: 3_600_000 };
  expect(remainingBackoffMs(22, 0, 0, limits)).toBe(2 ** 21);
  expect(remainingBackoffMs(100, 0, 0, limits)).toBe(3_600_000);
});

test.each([
  [undefined, undefined, false],
  ["kubernetes.io/job-controller", undefined, false],
  ["acme.io/a", undefined, true],
  ["acme.io/a", "acme.io/a", false],
  ["acme.io/b", "acme.io/a", true],
  ["kubernetes.io/job-controller", "acme.io/a", true],
  [undefined, "acme.io/a", true],
])("a Job with managedBy %s is foreign to a controller of %s: %s", (managedBy, ours, foreign) => {
  const spec = { template: {}, ...(managedBy === undefined ? {} : { managedBy }) };
  expect(isManagedElsewhere({ metadata: {}, spec }, ours)).toBe(foreign);
});
