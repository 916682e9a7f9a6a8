import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { runSimulation } from "../../../../packages/analysis/src/browser/index.js";

const folder = path.resolve(import.meta.dirname, "../../playground/page/examples");
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

test.each(names)("the example %s is simulated without problems", async (name) => {
  const [manifests = "", scenario = ""] = readFileSync(path.join(folder, name), "utf8").split("\n--- # scenario\n");
  const { report, problems } = await runSimulation({ manifests, scenario });
  expect(problems).toEqual([]);
  expect(report!.groups.flatMap(({ rows }) => rows).length).toBeGreaterThan(0);
  // The list of examples contains its name.
  expect(readFileSync(path.join(folder, "examples.ts"), "utf8")).toContain(`("${path.basename(name, ".yaml")}", `);
});
