import type { FaultPlan } from "@kubewright/simulation";
import { htmlPage, pageAssets } from "@kubewright/analysis/page";

import type { Io } from "../io/io.js";
import { type RecordOptions, recordPlan } from "./record-plan.js";
import { buildRecordedRun } from "./recorded-run.js";

export interface FuzzPageOptions extends RecordOptions {
  /** The command line that runs the plan again. */
  readonly command: string;
}

/**
 * Runs a plan again and describes the run on one page, which needs neither a server nor a network.
 *
 * The page has a narrative, every step, the cached view of each controller, and the plan.
 *
 * @returns HTML.
 * @throws UserError when this build has no page; PlanError for an invalid plan.
 */
export async function fuzzPage(plan: FaultPlan, { command, ...options }: FuzzPageOptions, io: Io): Promise<string> {
  const assets = await pageAssets(io);
  const recording = await recordPlan(plan, options);
  return htmlPage(assets, buildRecordedRun(recording, { command, invariants: options.invariants }));
}
