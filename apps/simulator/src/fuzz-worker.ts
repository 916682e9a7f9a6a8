import type { FaultPlan, Outcome } from "@kubewright/simulation";

import { runComparedPlan } from "./fuzz/run-compared-plan.js";
import { loadRunner } from "./fuzz/load-runner.js";

/** What a worker thread is asked for. */
export interface FuzzTask {
  readonly plan: FaultPlan;
  /** The URL of a player with a known bug. */
  readonly runner?: string;
}

/** The worker thread's side of `node-workers.ts`. */
export async function runTask({ plan, runner }: FuzzTask): Promise<Outcome> {
  return runComparedPlan(plan, await loadRunner(runner));
}
