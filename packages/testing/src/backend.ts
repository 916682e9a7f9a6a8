import type { Clock } from "@kubewright/clock";
import type { FaultyCluster, Network } from "@kubewright/cluster";
import type { Transport } from "@kubewright/transport";

import type { OperatorWebhooksLike, ServedWebhooks } from "./served-webhooks.js";

/**
 * Kind of the test's cluster: in this process, `kubewright serve` in another process, or a kube-apiserver with etcd.
 */
export type Against = "in-process" | "serve" | "kube-apiserver";

/** Driver of a test cluster: its API server, the components beside it, and its time. */
export interface Backend {
  readonly against: Against;
  /** The clock of the controllers that the test runs. */
  readonly clock: Clock;
  /** The connections of those controllers to the API server. */
  readonly network: Network;
  /** The test's own connection. */
  readonly transport: Transport;
  /** The embedded cluster; set only in process. */
  readonly embedded?: FaultyCluster;
  /** Serves the webhooks of an operator where the API server can call them. */
  serveWebhooks(operator: string, webhooks: OperatorWebhooksLike): Promise<ServedWebhooks>;
  /** Advances the time by `durationMs`, and runs all work that is due by then. */
  advance(durationMs: number): Promise<void>;
  /** Advances the time to the next due work, by at most `limitMs`, and runs that work. */
  step(limitMs: number): Promise<void>;
  /** Runs all work that is due now. */
  settle(): Promise<void>;
  /** @throws the error of a failed component. */
  check(): void;
  /** Stops the cluster. */
  stop(): Promise<void>;
}

/** Maximum time, by the cluster's clock, for a component to stop. */
const MAX_END_MS = 120_000;

/**
 * Advances the time until a stopping component has ended.
 *
 * @throws Error when the component does not end in time; the component's own error.
 */
export async function untilEnded(
  what: string,
  ended: Promise<unknown>,
  backend: Pick<Backend, "clock" | "step" | "settle">,
): Promise<void> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  ended.then(over, over);
  const deadline = backend.clock.monotonic() + MAX_END_MS;
  await backend.settle();
  while (!isOver) {
    const leftMs = deadline - backend.clock.monotonic();
    if (leftMs <= 0) throw new Error(`${what} did not stop within ${MAX_END_MS / 1000} s`);
    await backend.step(leftMs);
  }
  await ended;
}
