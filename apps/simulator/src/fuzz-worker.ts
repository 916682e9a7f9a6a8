import type { FaultPlan, Outcome } from "@kubewright/simulation";

import type { MutantPlayer } from "./fuzz/mutant-kit.js";
import { playPlan } from "./fuzz/play-plan.js";

/** What a worker thread is asked for. */
export interface FuzzTask {
  readonly plan: FaultPlan;
  /** The URL of a player with a known bug. */
  readonly player?: string;
}

/** The worker thread's side of `node-workers.ts`. */
export async function playTask({ plan, player }: FuzzTask): Promise<Outcome> {
  if (player === undefined) return playPlan(plan);
  const { play } = (await import(player)) as MutantPlayer;
  return playPlan(plan, play);
}
