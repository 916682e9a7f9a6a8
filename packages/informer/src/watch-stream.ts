import type { DeepReadonly, KubernetesObject, WatchEvent } from "@kubewright/api";
import type { Reader, WatchOptions } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { Deadline } from "./deadline.js";

/**
 * How much longer than requested a server may keep a stream open before the client closes it. Detects dead connections.
 */
const GRACE_MS = 30_000;

/** One open watch. */
export class WatchStream<T extends KubernetesObject> {
  readonly events: AsyncIterator<WatchEvent<DeepReadonly<T>>>;
  readonly openedAtMs: number;
  /** Number of well-formed events so far. */
  received = 0;
  /** Whether resourceVersions arrive in order. False during the initial list of a watch from any version. */
  inOrder: boolean;
  readonly #deadline: Deadline;

  private constructor(
    events: AsyncIterable<WatchEvent<DeepReadonly<T>>>,
    openedAtMs: number,
    inOrder: boolean,
    deadline: Deadline,
  ) {
    this.events = events[Symbol.asyncIterator]();
    this.openedAtMs = openedAtMs;
    this.inOrder = inOrder;
    this.#deadline = deadline;
  }

  /** @throws the reader's error when the server does not open the stream, or when `signal` aborts. */
  static async open<T extends KubernetesObject>(
    reader: Reader<T>,
    options: Omit<WatchOptions, "signal"> & { readonly timeoutSeconds: number },
    { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<WatchStream<T>> {
    const deadline = new Deadline(clock, signal, options.timeoutSeconds * 1000 + GRACE_MS);
    // Measured before the request: some proxies delay the response headers until the first event.
    const openedAtMs = clock.monotonic();
    try {
      const events = await reader.watch({ ...options, signal: deadline.signal });
      const inOrder =
        options.resourceVersion !== undefined && options.resourceVersion !== "" && options.resourceVersion !== "0";
      const stream = new WatchStream(events, openedAtMs, inOrder, deadline);
      if (!signal.aborted) return stream;
      stream.close();
      throw signal.reason;
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  /** Ends the request. Does not wait for the server. */
  close(): void {
    this.#deadline.close(new Error("the watch was closed"));
    this.events.return?.().catch(() => {});
  }
}
