import { type Random, formatDuration, realClock } from "@kubewright/clock";
import { type ComponentsOptions, createComponents } from "@kubewright/cluster";
import { createHttpTransport, loadKubeConfig } from "@kubewright/transport-http";

import { Activity } from "./activity.js";
import { type Backend, untilEnded } from "./backend.js";
import { serveOverHttps } from "./served-webhooks.js";

export interface KubeApiServerOptions extends Pick<ComponentsOptions, "controllers" | "kubelet" | "nodes" | "logger"> {
  readonly random: Random;
  readonly kubeconfig: string;
  /** Maximum waiting time of {@link Backend.advance}. */
  readonly maxMs: number;
  /** Stops the API server. */
  readonly end: () => Promise<void>;
}

/** Interval between two checks. */
const STEP_MS = 50;
/** A real API server serves a new kind only some time after it has stored its definition. */
const DISCOVERY_INTERVAL_MS = 1_000;

/**
 * Connects to a real API server without controllers. Kubernetes' controllers, scheduler and kubelet run in this
 * process. Time is real: to advance it means to wait.
 */
export async function startOnKubeApiServer(options: KubeApiServerOptions): Promise<Backend> {
  const { kubeconfig, maxMs, end, ...components } = options;
  const clock = realClock;
  const http = createHttpTransport(await loadKubeConfig({ path: kubeconfig }));
  const activity = new Activity(clock);
  const transport = activity.watching(http.transport);
  const cluster = createComponents({
    ...components,
    clock,
    transport,
    discoveryIntervalMs: DISCOVERY_INTERVAL_MS,
  });
  const stop = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  const running = cluster.run(stop.signal).catch((error: unknown) => {
    failure = { error };
  });
  const backend: Backend = {
    against: "kube-apiserver",
    clock,
    network: cluster.network,
    transport,
    serveWebhooks: serveOverHttps,
    settle: () => activity.quiet(() => clock.yieldToEventLoop()),
    step: (limitMs) => clock.sleep(Math.min(STEP_MS, limitMs)),
    advance: async (durationMs) => {
      if (durationMs > maxMs)
        throw new RangeError(
          `advance: on a kube-apiserver time is real, and ${formatDuration(durationMs)} is longer than the ${formatDuration(maxMs)} that a test waits: wait with eventually for what is to happen, or set longestRealWait`,
        );
      await clock.sleep(durationMs);
    },
    check: () => {
      if (failure !== undefined) throw failure.error;
    },
    stop: async () => {
      try {
        stop.abort();
        await untilEnded("the cluster", running, backend);
      } finally {
        await http.close();
        await end();
      }
    },
  };
  await cluster.ready();
  return backend;
}
