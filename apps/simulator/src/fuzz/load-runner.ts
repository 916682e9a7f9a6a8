import { runPlan } from "@kubewright/simulation";

import type { MutantRunner } from "./mutant-kit.js";

/**
 * Returns the function that runs plans: the one of the module at the URL, which has a known bug, or the standard one.
 */
export async function loadRunner(url: string | undefined): Promise<MutantRunner["runPlan"]> {
  return url === undefined ? runPlan : ((await import(url)) as MutantRunner).runPlan;
}
