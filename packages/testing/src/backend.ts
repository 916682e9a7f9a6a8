import type { Clock } from "@kubewright/clock";
import type { FaultyCluster, Network } from "@kubewright/cluster";
import type { Transport } from "@kubewright/transport";

/** What the test's cluster is: in this process, `kubewright serve` in another, or a kube-apiserver and its etcd. */
export type Against = "in-process" | "serve" | "kube-apiserver";

/** A cluster as the kit drives it: an API server, whatever runs beside it, and time. */
export interface Backend {
  readonly against: Against;
  /** The clock of the controllers that the test runs. */
  readonly clock: Clock;
  /** Their ways to the API server. */
  readonly network: Network;
  /** The test's own way. */
  readonly transport: Transport;
  /** Set in process: everything there is to it. */
  readonly embedded?: FaultyCluster;
  /** Moves time on by so many milliseconds, and lets everything happen that is due by then. */
  advance(durationMs: number): Promise<void>;
  /** Moves time on to when something is due, but no further than `limitMs`, and lets it happen. */
  step(limitMs: number): Promise<void>;
  /** Lets everything happen for which no time has to pass. */
  settle(): Promise<void>;
  /** @throws what a part of it failed with. */
  check(): void;
  /** Ends it. Nobody uses it any more. */
  stop(): Promise<void>;
}

/** Longest time, by the clock, that something which was told to stop may take to do so. */
const MAX_END_MS = 120_000;

/** Waits, by moving time on, for something that was told to stop. @throws Error when it does not, and what it fails with. */
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
