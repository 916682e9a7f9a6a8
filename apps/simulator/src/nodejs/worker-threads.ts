import { MessageChannel } from "node:worker_threads";

import type { Outcome } from "@kubewright/simulation";
import { Tinypool } from "tinypool";

import type { FutureTask } from "./future-worker.js";
import type { FuzzTask } from "./fuzz-worker.js";
import type { FuzzPool } from "../fuzz/fuzz-pool.js";
import type { FutureSummary, FutureWorkers } from "@kubewright/analysis/futures";
import { threadFailure } from "./out-of-memory-error.js";

/** Starts threads that simulate futures, each at most one at a time. */
export function nodeWorkers(count: number): FutureWorkers {
  const pool = poolOf(count, "./future-worker.js");
  const run = (task: FutureTask, options: RunOptions): Promise<unknown> => runIn(pool, task, "a future", options);
  return {
    count,
    async simulate(plan, seed, onProgress) {
      const name = "runTask";
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

/** Starts threads that run fault plans, each at most one at a time. */
export function nodeFuzzWorkers(count: number, runnerUrl: string | undefined): FuzzPool {
  const pool = poolOf(count, "./fuzz-worker.js");
  return {
    count,
    run: (plan) =>
      runIn(
        pool,
        { plan, ...(runnerUrl === undefined ? {} : { runner: runnerUrl }) } satisfies FuzzTask,
        "a fault plan",
      ) as Promise<Outcome>,
    close: () => pool.destroy(),
  };
}

type RunOptions = NonNullable<Parameters<Tinypool["run"]>[1]>;

async function runIn(pool: Tinypool, task: unknown, activity: string, options?: RunOptions): Promise<unknown> {
  try {
    return await pool.run(task, options);
  } catch (error) {
    throw threadFailure(error, activity);
  }
}

/** @param filename - A file beside the built command. */
function poolOf(count: number, filename: string): Tinypool {
  return new Tinypool({
    filename: new URL(filename, import.meta.url).href,
    name: "runTask",
    minThreads: count,
    maxThreads: count,
  });
}
