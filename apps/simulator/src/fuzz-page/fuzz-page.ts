import type { FaultPlan } from "@kubewright/simulation";

import type { Io } from "../io.js";
import { htmlPage } from "../report/html-page.js";
import { pageAssets } from "../report/html-report.js";
import { type RecordOptions, recordPlan } from "./record-plan.js";
import { buildRecordedRun } from "./recorded-run.js";

export interface FuzzPageOptions extends RecordOptions {
  /** What plays the plan again, for people to copy. */
  readonly command: string;
}

/**
 * Plays a plan once more and tells of it on one page, which needs neither a server nor a network: what went wrong in sentences,
 * every step of it, what each controller knew, and the plan.
 *
 * @returns HTML.
 * @throws UserError when this build has no page; PlanError for a plan that cannot be played.
 */
export async function fuzzPage(plan: FaultPlan, { command, ...options }: FuzzPageOptions, io: Io): Promise<string> {
  const assets = await pageAssets(io);
  const recording = await recordPlan(plan, options);
  return htmlPage(assets, buildRecordedRun(recording, { command, invariants: options.invariants }));
}
