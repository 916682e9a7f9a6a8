import type { Cluster } from "./cluster.js";

interface Stages {
  /** Runs before everything else. */
  readonly start: () => Promise<void>;
  readonly run: Cluster["run"];
  /** Resolves once the running components have received the initial state. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
}

/** Runs the stages in order. `ready` rejects when a stage fails. */
export function runWithReadiness({ start, run, synced }: Stages): Pick<Cluster, "run" | "ready"> {
  const started = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  return {
    async run(signal) {
      try {
        await start();
        started.resolve();
        await run(signal);
      } catch (error) {
        failed.reject(error);
        throw error;
      }
    },
    ready: (signal = new AbortController().signal) =>
      Promise.race([started.promise.then(() => synced(signal)), failed.promise]),
  };
}
