import { type DeepReadonly, type Lease, leases } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import type { Runnable } from "./runnable.js";

export interface LeaseWatchOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Told of the Lease as it is, then of every change; `undefined` when it has been deleted. */
  readonly onChange: (lease: DeepReadonly<Lease> | undefined) => void;
}

const WATCH_SECONDS = 600;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Tells of changes to one Lease for as long as the server lets it, and tries again with growing pauses when it does not:
 * whoever may not watch has to poll. Says nothing of its failures.
 */
export class LeaseWatch implements Runnable {
  readonly name: string;
  readonly #options: LeaseWatchOptions;

  constructor(options: LeaseWatchOptions) {
    this.name = `watch of lease ${options.namespace}/${options.name}`;
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = MIN_PAUSE_MS;
    while (!signal.aborted) {
      const received = await this.#watch(signal).catch(() => false);
      pauseMs = received ? MIN_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
      await this.#options.clock.sleep(pauseMs, signal, { background: true }).catch(() => undefined);
    }
  }

  /** Answers whether the server sent anything. */
  async #watch(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, onChange } = this.#options;
    const fieldSelector = `metadata.name=${name}`;
    let received = false;
    try {
      const events = await client
        .resource(leases)
        .watch({ namespace, fieldSelector, timeoutSeconds: WATCH_SECONDS, signal });
      for await (const event of events) {
        if (signal.aborted || event.type === "ERROR") break;
        received = true;
        if (event.type === "DELETED") onChange(undefined);
        else if (event.type !== "BOOKMARK") onChange(event.object);
      }
    } catch (error) {
      if (!received) throw error;
    }
    return received;
  }
}
