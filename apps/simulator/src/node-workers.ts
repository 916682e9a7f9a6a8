import { Tinypool } from "tinypool";

import type { FutureTask } from "./future-worker.js";
import type { FutureSummary } from "./futures/play-future.js";
import type { FutureWorkers } from "./futures/play-futures.js";

/** Threads that play futures, each at most one at a time. */
export function nodeWorkers(count: number): FutureWorkers {
  const pool = new Tinypool({
    // It lies beside the built command.
    filename: new URL("./future-worker.js", import.meta.url).href,
    minThreads: count,
    maxThreads: count,
  });
  const run = (name: "playTask" | "timelineTask", task: FutureTask): Promise<unknown> => pool.run(task, { name });
  return {
    count,
    play: (plan, seed) => run("playTask", { plan, seed }) as Promise<FutureSummary>,
    timeline: (plan, seed) => run("timelineTask", { plan, seed }) as Promise<string>,
    close: () => pool.destroy(),
  };
}
