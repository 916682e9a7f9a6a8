import { expect, it } from "vitest";

import { builtInInvariants, compareSettled, generatePlan, runPlan } from "./index.js";

// Some of the first seeds, and seeds of former false positives and controller bugs: clocks set back, failures that a
// policy ignores, changes at the last instant, a lost node that is recreated when it is marked unreachable.
it.each([
  1, 2, 3, 4, 76, 90, 110, 135, 138, 147, 9000786, 9003626, 9005005, 3236896202, 3236896418, 3478895752, 3527896406,
  910002082,
])("reports no controller of seed %i", async (seed) => {
  const { jitter: _, ...plan } = generatePlan(seed);
  const calm = await runPlan({ ...plan, events: [] }, { invariants: builtInInvariants });
  const outcome = await runPlan(generatePlan(seed), { invariants: builtInInvariants });
  expect([...calm.violations, ...outcome.violations]).toEqual([]);
  expect(compareSettled(calm.settled, outcome.settled, plan)).toEqual([]);
});
