import type { FaultPlan, Outcome } from "@kubewright/simulation";

import { playPlan } from "./fuzz/play-plan.js";
import { playerAt } from "./fuzz/player-at.js";

/** What a worker thread is asked for. */
export interface FuzzTask {
  readonly plan: FaultPlan;
  /** The URL of a player with a known bug. */
  readonly player?: string;
}

/** The worker thread's side of `node-workers.ts`. */
export async function playTask({ plan, player }: FuzzTask): Promise<Outcome> {
  return playPlan(plan, await playerAt(player));
}
