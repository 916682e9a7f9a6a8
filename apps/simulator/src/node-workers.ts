import { Tinypool } from "tinypool";

import type { FutureTask } from "./future-worker.js";
import type { FutureSummary } from "./futures/play-future.js";
import type { FutureWorkers } from "./futures/play-futures.js";

/** Threads that play futures, each at most one at a time. */
export function nodeWorkers(count: number): FutureWorkers {
  const pool = new Tinypool({
    // It lies beside the built command.
    filename: new URL("./future-worker.js", import.meta.url).href,
    name: "playTask",
    minThreads: count,
    maxThreads: count,
  });
  return {
    count,
    play: (plan, seed) => pool.run({ plan, seed } satisfies FutureTask) as Promise<FutureSummary>,
    close: () => pool.destroy(),
  };
}
