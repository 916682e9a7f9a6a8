import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { transform } from "esbuild";
import { expect, test } from "vitest";

import { SHARDING_ROWS } from "../src/generate/sharding-faults.js";
import { SITUATIONS } from "../src/generate/situations.js";
import { HIDDEN } from "../src/generate/unobserved-objects.js";
import { type Mutant, MutantError, listMutants, mutantPath, mutatedFiles } from "./build.ts";

const CLUSTER = "packages/cluster/src/index.ts";

test("every mutant still applies to today's sources, and what it makes of them can be read", async () => {
  const mutants = listMutants();
  expect(mutants.length).toBeGreaterThan(40);
  for (const mutant of mutants) {
    for (const [file, text] of mutatedFiles(mutant)) {
      const { warnings } = await transform(text, { loader: "ts", target: "node22", sourcefile: file });
      expect(warnings, mutant.name).toEqual([]);
    }
  }
});

test("every mutant changes something unless it is a negative control", () => {
  const mutants = listMutants();
  for (const { name, sentence, permitted, changes } of mutants) {
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(changes.length > 0 || permitted === true, name).toBe(true);
    for (const { find, replace } of changes) expect(replace, name).not.toBe(find);
  }
  expect(mutants.filter(({ permitted }) => permitted).map(({ name }) => name)).toEqual([
    "job-backoff-lost-on-restart",
    "job-index-annotation-edited",
    "shard-outages-count",
  ]);
});

test("each row of the generator names mutants or issues that exist", () => {
  const mutants = new Set(listMutants().map(({ name }) => name));
  const names = [...SITUATIONS, ...HIDDEN, ...SHARDING_ROWS].flatMap(({ because }) => because);
  expect(names.filter((name) => !/^kubernetes\/kubernetes#\d+$/.test(name) && !mutants.has(name))).toEqual([]);
});

test.each([
  ["is not there", "no such text"],
  ["occurs more than once", "export"],
])("a text that %s is reported with the mutant and the file", (_title, find) => {
  const changes = [{ file: CLUSTER, find, replace: "" }];
  const mutant: Mutant = { name: "stale", entry: "#0", sentence: "It is of other sources.", changes };
  expect(() => mutatedFiles(mutant)).toThrow(MutantError);
  expect(() => mutatedFiles(mutant)).toThrow(
    /^mutant stale: packages\/cluster\/src\/index\.ts has ".*" \d+ times, not once$/,
  );
});

test("what is mutated is what runs; it is built again only when something has changed", async () => {
  const built = await mutantPath("job-finished-forgotten", CLUSTER);
  const { createCluster } = (await import(pathToFileURL(built).href)) as { readonly createCluster?: unknown };
  expect(createCluster).toBeTypeOf("function");
  const { mtimeMs } = statSync(built);
  expect(await mutantPath("job-finished-forgotten", CLUSTER)).toBe(built);
  expect(statSync(built).mtimeMs).toBe(mtimeMs);
});

test("unknown names and entries, and mutants of files that the entry does not bundle, are reported", async () => {
  await expect(mutantPath("job-finished-forgotten", "packages/clock/src/index.ts")).rejects.toThrow(
    "mutant job-finished-forgotten: packages/job/src/sync-job.ts is no part of what packages/clock/src/index.ts runs",
  );
  await expect(mutantPath("nonsense")).rejects.toThrow('there is no mutant "nonsense"');
  await expect(mutantPath("ttl-future-finish", "packages/clock/src/none.ts")).rejects.toThrow(
    "there is no packages/clock/src/none.ts",
  );
});
