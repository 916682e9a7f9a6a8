import type { MessagePort } from "node:worker_threads";

import { packedTimeline, type FuturePlan, type FutureSummary, simulateFuture } from "@kubewright/analysis/futures";

/** The task of a worker thread. */
export interface FutureTask {
  readonly plan: FuturePlan;
  readonly seed: number;
  /** Receives the simulated share, if progress is requested. */
  readonly port?: Pick<MessagePort, "postMessage">;
}

/** Runs in a worker thread that `worker-threads.ts` starts. */
export function runTask({ plan, seed, port }: FutureTask): Promise<FutureSummary> {
  return simulateFuture(plan, seed, port && ((share) => port.postMessage(share)));
}

/** The same for the timeline of one seed. */
export function timelineTask({ plan, seed }: FutureTask): Promise<string> {
  return packedTimeline(plan, seed);
}
