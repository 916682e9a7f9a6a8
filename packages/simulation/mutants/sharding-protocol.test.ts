import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import type * as scenarios from "../../sharding/test/protocol-scenarios.js";
import { mutantPath } from "./build.ts";

const SECOND = 1000;

/** The scenarios of `packages/sharding/src/protocol.test.ts`, over code with a mutant. */
async function scenariosWith(mutant: string): Promise<typeof scenarios> {
  const bundle = await mutantPath(mutant, "packages/sharding/test/protocol-scenarios.ts");
  return (await import(pathToFileURL(bundle).href)) as typeof scenarios;
}

test.each([false, true])("without the fence a process that resumes writes for buckets of others", async (suspended) => {
  const { pauseProcess } = await scenariosWith("shard-fence-missing");
  expect((await pauseProcess(25 * SECOND, suspended)).violations.join("\n")).toContain("m1 wrote for");
});

test("without the fence, random faults show two writers", async () => {
  const { chaos } = await scenariosWith("shard-fence-missing");
  const violations: string[] = [];
  for (let seed = 1; seed <= 8 && violations.length === 0; seed++) violations.push(...(await chaos(seed)).violations);
  expect(violations).not.toEqual([]);
});

test("an outage that counts as missing renewals fences members that come back later", async () => {
  const { outage, takeovers } = await scenariosWith("shard-outages-count");
  expect(takeovers(await outage())).toBeGreaterThan(65);
});

test("without taking over Leases, buckets of live members are acquired", async () => {
  const { silenceWatches } = await scenariosWith("shard-buckets-taken-by-time");
  expect((await silenceWatches()).violations.join("\n")).toMatch("which is live");
});

test("releasing before the outcome of a write is known is detected", async () => {
  const { lateWrites } = await scenariosWith("shard-release-before-outcomes");
  expect((await lateWrites(1_000)).violations.join("\n")).toContain("m2 wrote for");
});
