import { type Random, formatDuration, realClock } from "@kubewright/clock";
import { type ComponentsOptions, createComponents } from "@kubewright/cluster";
import { createHttpTransport, loadKubeConfig } from "@kubewright/transport-http";

import { Activity } from "./activity.js";
import { type Backend, untilEnded } from "./backend.js";

export interface KubeApiServerOptions extends Pick<ComponentsOptions, "controllers" | "kubelet" | "nodes" | "logger"> {
  readonly random: Random;
  readonly kubeconfig: string;
  /** Longest that {@link Backend.advance} waits. */
  readonly maxMs: number;
  /** Ends it. */
  readonly end: () => Promise<void>;
}

/** Pause between two looks. */
const STEP_MS = 50;
/** A real API server serves a new kind somewhat later than it stores its definition. */
const DISCOVERY_INTERVAL_MS = 1_000;

/**
 * A real API server, beside which nothing runs: Kubernetes' controllers, scheduler and kubelet are ours, in this process. Time
 * is real: to move it on is to wait.
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
