import type { FaultPlan, Outcome } from "@kubewright/simulation";

import { runComparedPlan } from "../fuzz/run-compared-plan.js";
import { loadRunner } from "../fuzz/load-runner.js";

/** The task of a worker thread. */
export interface FuzzTask {
  readonly plan: FaultPlan;
  /** The URL of a runner with a known bug. */
  readonly runner?: string;
}

/** Runs in a worker thread that `worker-threads.ts` starts. */
export async function runTask({ plan, runner }: FuzzTask): Promise<Outcome> {
  return runComparedPlan(plan, await loadRunner(runner));
}
