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
  /** Called with the current Lease, then after every change; `undefined` when the Lease is deleted. */
  readonly onChange: (lease: DeepReadonly<Lease> | undefined) => void;
}

const WATCH_SECONDS = 600;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Watches one Lease. After a failure it retries with growing pauses and reports nothing: a client without permission to
 * watch has to poll.
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

  /** Returns whether the server sent any event. */
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
