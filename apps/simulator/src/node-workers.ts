import { MessageChannel } from "node:worker_threads";

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
  type RunOptions = NonNullable<Parameters<Tinypool["run"]>[1]>;
  const run = (task: FutureTask, options: RunOptions): Promise<unknown> => pool.run(task, options);
  return {
    count,
    async play(plan, seed, onProgress) {
      const name = "playTask";
      if (onProgress === undefined) return (await run({ plan, seed }, { name })) as FutureSummary;
      const { port1, port2: port } = new MessageChannel();
      port1.on("message", onProgress);
      try {
        return (await run({ plan, seed, port }, { name, transferList: [port] })) as FutureSummary;
      } finally {
        port1.close();
      }
    },
    timeline: (plan, seed) => run({ plan, seed }, { name: "timelineTask" }) as Promise<string>,
    close: () => pool.destroy(),
  };
}
