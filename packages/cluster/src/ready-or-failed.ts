import type { Cluster } from "./cluster.js";

interface Stages {
  /** What has to be done before anything runs. */
  readonly start: () => Promise<void>;
  readonly run: Cluster["run"];
  /** Resolves once what runs has seen the initial state. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
}

/** Runs one stage after the other. Whoever waits for it to be ready is told when it has failed instead. */
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
