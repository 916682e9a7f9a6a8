import { runPlan } from "@kubewright/simulation";

import type { MutantRunner } from "./mutant-kit.js";

/** What plays plans: with a known bug in it, the player at that URL. */
export async function loadRunner(url: string | undefined): Promise<MutantRunner["play"]> {
  return url === undefined ? runPlan : ((await import(url)) as MutantRunner).play;
}
