import { readFileSync } from "node:fs";

import { type Clock, realClock, seededRandom } from "@kubewright/clock";

import { readProcessStats } from "../src/metrics/node-process-stats.js";
import { run } from "../src/run.js";
import { nodeServingIo } from "../src/serving/node-serving-io.js";
import type { Scope } from "./scope.js";

/** The whole program except its process: the same code that `main` runs. Stopped at the end of the test. */
export interface InProcessManager {
  readonly lines: readonly string[];
  /** The serving port, once it is open. It replaces the default port, so that many managers can run concurrently. */
  readonly port: Promise<number>;
  readonly status: Promise<number>;
  stop(): void;
}

export function runManager(
  scope: Scope,
  seed: number,
  args: readonly string[],
  clock: Clock = realClock,
): InProcessManager {
  const lines: string[] = [];
  const stop = new AbortController();
  const port = Promise.withResolvers<number>();
  const io = nodeServingIo();
  const status = run(
    {
      args,
      env: {},
      pid: seed,
      hostname: `host-${seed}`,
      build: { version: "0.0.0", platform: "linux", arch: "x64" },
      localTimeZone: "UTC",
      clock,
      random: seededRandom(seed),
      writeOut: () => undefined,
      writeError: (text) => void lines.push(...text.trimEnd().split("\n")),
      readFile: (path) => readFileSync(path, "utf8"),
      ignoreSignals: () => undefined,
      servingIo: {
        ...io,
        listen: async (options) => {
          const listener = await io.listen({ ...options, port: options.port === 10_257 ? 0 : options.port });
          port.resolve(listener.port);
          return listener;
        },
      },
      readProcess: readProcessStats,
      nodeVersion: process.version,
    },
    stop.signal,
  );
  status.then(
    (code) => port.reject(new Error(`the manager ended with ${code}:\n${lines.join("\n")}`)),
    (error: unknown) => port.reject(error),
  );
  port.promise.catch(() => undefined);
  scope.onTestFinished(async () => {
    stop.abort(new Error("the test is over"));
    await status.catch(() => undefined);
  });
  return { lines, port: port.promise, status, stop: () => stop.abort(new Error("stop")) };
}
