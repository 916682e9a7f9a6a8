import { type Random, SimulatedClock } from "@kubewright/clock";
import { type FaultyClusterOptions, createFaultyCluster } from "@kubewright/cluster";

import { type Backend, untilEnded } from "./backend.js";
import { InProcessWebhooks } from "./served-webhooks.js";

export interface InProcessOptions extends Omit<FaultyClusterOptions, "clock"> {
  readonly random: Random;
  /** Epoch milliseconds. */
  readonly startMs: number;
}

/** Starts a whole cluster in this process, in virtual time. */
export async function startInProcess({ startMs, ...options }: InProcessOptions): Promise<Backend> {
  const clock = new SimulatedClock(startMs);
  const webhooks = new InProcessWebhooks(options.webhooks);
  const embedded = createFaultyCluster({ ...options, clock, webhooks: webhooks.call });
  const stop = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  const running = embedded.run(stop.signal).catch((error: unknown) => {
    failure = { error };
  });
  const backend: Backend = {
    against: "in-process",
    clock,
    network: embedded.network,
    transport: embedded.apiServer.transport,
    embedded,
    serveWebhooks: (operator, served) => webhooks.serve(operator, served),
    advance: (durationMs) => clock.advance(durationMs),
    step: (limitMs) => clock.advance(Math.min(limitMs, clock.nextTimerInMs ?? limitMs)),
    settle: () => clock.advance(0),
    check: () => {
      if (failure !== undefined) throw failure.error;
    },
    stop: async () => {
      stop.abort();
      await untilEnded("the cluster", running, backend);
    },
  };
  await clock.settle();
  await embedded.ready();
  await clock.advance(0);
  return backend;
}
