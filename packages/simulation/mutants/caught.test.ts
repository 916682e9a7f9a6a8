import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import type { Outcome } from "../src/index.js";
import { mutantPath, unmutatedPath } from "./build.ts";
import type { Simulation } from "./hunt.ts";
import type { CaughtBy } from "./table.ts";

const SIMULATION = "packages/simulation/src/index.ts";

interface Kept extends CaughtBy {
  readonly mutant: string;
}

/** Returns, for each invariant that has caught a mutant, the smallest plan. */
function onePerInvariant(): readonly Kept[] {
  const kept = globSync("caught/*.json", { cwd: import.meta.dirname }).map((file): Kept => {
    const text = readFileSync(path.join(import.meta.dirname, file), "utf8");
    return { ...(JSON.parse(text) as CaughtBy), mutant: path.basename(file, ".json") };
  });
  const sizeOf = ({ plan }: Kept): number => JSON.stringify(plan).length;
  const found = new Map<string, Kept>();
  for (const each of kept.toSorted((a, b) => sizeOf(a) - sizeOf(b) || (a.mutant < b.mutant ? -1 : 1)))
    if (!found.has(each.invariant)) found.set(each.invariant, each);
  return [...found.values()];
}

async function simulationOf(bundle: Promise<string>): Promise<Simulation> {
  return (await import(pathToFileURL(await bundle).href)) as Simulation;
}

async function reported(of: Simulation, { plan }: Kept, without?: string): Promise<ReadonlySet<string>> {
  const invariants = of.builtInInvariants.filter(({ name }) => name !== without);
  const { violations }: Outcome = await of.runPlan(plan, { invariants });
  return new Set(violations.map(({ invariant }) => invariant));
}

test.each(onePerInvariant().map((kept) => [kept.invariant, kept.mutant, kept] as const))(
  "%s catches %s in its smallest plan, and without it no other invariant begins to",
  async (invariant, mutant, kept) => {
    const mutated = await simulationOf(mutantPath(mutant, SIMULATION));
    expect(await reported(await simulationOf(unmutatedPath(SIMULATION)), kept)).toEqual(new Set());
    const before = await reported(mutated, kept);
    expect(before).toContain(invariant);
    // Without the invariant the others report the same as before.
    expect(await reported(mutated, kept, invariant)).toEqual(new Set([...before].filter((name) => name !== invariant)));
  },
);
