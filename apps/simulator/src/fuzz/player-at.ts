import { runPlan } from "@kubewright/simulation";

import type { MutantPlayer } from "./mutant-kit.js";

/** What plays plans: with a known bug in it, the player at that URL. */
export async function playerAt(url: string | undefined): Promise<MutantPlayer["play"]> {
  return url === undefined ? runPlan : ((await import(url)) as MutantPlayer).play;
}
