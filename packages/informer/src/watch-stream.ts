import type { DeepReadonly, KubernetesObject, WatchEvent } from "@kubewright/api";
import type { Reader, WatchOptions } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { Deadline } from "./deadline.js";

/** How much longer than asked a server may keep a stream open before we close it, so that a dead connection is noticed. */
const GRACE_MS = 30_000;

/** One open watch. */
export class WatchStream<T extends KubernetesObject> {
  readonly events: AsyncIterator<WatchEvent<DeepReadonly<T>>>;
  readonly openedAtMs: number;
  /** Well-formed events so far. */
  received = 0;
  /** Whether the resourceVersions that come are in order: not so in the initial list of a watch from any version. */
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

  /** @throws what the reader throws when the server does not open the stream, or `signal` aborts. */
  static async open<T extends KubernetesObject>(
    reader: Reader<T>,
    options: Omit<WatchOptions, "signal"> & { readonly timeoutSeconds: number },
    { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<WatchStream<T>> {
    const deadline = new Deadline(clock, signal, options.timeoutSeconds * 1000 + GRACE_MS);
    // From before the request: some proxies hold the answer's head back until the first event.
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

  /** Ends the request. Nobody waits for the server to notice. */
  close(): void {
    this.#deadline.close(new Error("the watch was closed"));
    this.events.return?.().catch(() => {});
  }
}
