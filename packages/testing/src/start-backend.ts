import { type Random, silentLogger } from "@kubewright/clock";

import type { Backend } from "./backend.js";
import { type DurationLike, milliseconds } from "./duration.js";
import { startInProcess } from "./in-process-backend.js";
import { processEnvironment } from "./processes/environment.js";
import type { TestClusterOptions } from "./start-test-cluster.js";
import { chosenServer, missingTestServer } from "./test-server.js";

export interface BackendOptions extends Omit<TestClusterOptions, "crds" | "start"> {
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly random: Random;
  readonly seed: number;
}

const DEFAULT_MAX_REAL_WAIT: DurationLike = "1m";

/** Starts the cluster of a test. Modules for other processes are loaded on demand. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const { against, startMs, seed, random, controllers, kubelet = "simulated", embedded } = options;
  const chosen = chosenServer(against);
  const missing = await missingTestServer(chosen);
  if (missing !== undefined) throw new Error(`cannot test against ${chosen}: ${missing}`);
  const components = { random, kubelet, ...(controllers === undefined ? {} : { controllers }) };
  if (chosen === "in-process")
    return startInProcess({
      logger: silentLogger,
      freeze: true,
      createDefaultObjects: true,
      ...embedded,
      ...components,
      startMs,
    });
  if (embedded !== undefined) throw new Error(`embedded: its options are for a cluster in process, not for ${chosen}`);
  if (chosen === "kube-apiserver") {
    const { startKubeApiServer, withFolder } = await import("./processes/index.js");
    const { startOnKubeApiServer } = await import("./kube-apiserver-backend.js");
    const maxMs = milliseconds(options.maxRealWait ?? DEFAULT_MAX_REAL_WAIT, "longestRealWait");
    const assets = processEnvironment().KUBEBUILDER_ASSETS ?? "";
    const server = await withFolder((folder) => startKubeApiServer(assets, folder));
    const { kubeconfig, stop } = server;
    return withEnd(stop, () =>
      startOnKubeApiServer({ ...components, kubeconfig, maxMs, logger: silentLogger, end: stop }),
    );
  }
  const { startServe } = await import("./serve-backend.js");
  if (chosen !== "serve") return startServe({ url: chosen, reset: true, end: () => Promise.resolve() });
  const { startServeProcess } = await import("./processes/index.js");
  const { url, ended, stop } = await startServeProcess({
    flags: [
      `--start=${new Date(startMs).toISOString()}`,
      `--seed=${seed}`,
      `--kubelet=${kubelet}`,
      ...(controllers === undefined ? [] : [`--controllers=${controllers.join(",")}`]),
    ],
  });
  return withEnd(stop, () => startServe({ url, ended, end: stop }));
}

/** Runs `begin`. Calls `end` when `begin` fails, to stop what was started for it. */
async function withEnd(end: () => Promise<void>, begin: () => Promise<Backend>): Promise<Backend> {
  try {
    return await begin();
  } catch (error) {
    await end();
    throw error;
  }
}
