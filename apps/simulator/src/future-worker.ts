import type { MessagePort } from "node:worker_threads";

import { packedTimeline } from "./futures/packed-timeline.js";
import { type FuturePlan, type FutureSummary, simulateFuture } from "./futures/simulate-future.js";

/** What a worker thread is asked for. */
export interface FutureTask {
  readonly plan: FuturePlan;
  readonly seed: number;
  /** Hears which share has been played, where somebody wants to know. */
  readonly port?: Pick<MessagePort, "postMessage">;
}

/** The worker thread's side of `node-workers.ts`. */
export function runTask({ plan, seed, port }: FutureTask): Promise<FutureSummary> {
  return simulateFuture(plan, seed, port && ((share) => port.postMessage(share)));
}

/** The same for the timeline of one. */
export function timelineTask({ plan, seed }: FutureTask): Promise<string> {
  return packedTimeline(plan, seed);
}
