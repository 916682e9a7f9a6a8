/** Yields to the event loop many times in a row. */
export class Macrotasks {
  /** Used if there is no `setImmediate`. */
  readonly #channel: InstanceType<typeof MessageChannel> | undefined;
  readonly #waiting: (() => void)[] = [];
  #isClosing = false;

  constructor() {
    if (typeof setImmediate === "function") return;
    // Browsers delay timers by 4 ms, but deliver messages immediately. Creating a channel takes longer than sending on
    // it.
    this.#channel = new MessageChannel();
    const { port1 } = this.#channel;
    port1.addEventListener("message", () => {
      this.#waiting.shift()!();
      this.#closeWhenDone();
    });
    port1.start();
  }

  /** Resolves when everything ready has run, and the event loop has handled sockets, signals and the like. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#channel === undefined) setImmediate(resolve);
      else {
        this.#waiting.push(resolve);
        this.#channel.port2.postMessage(undefined);
      }
    });
  }

  /** Closes the channel once all pending promises have resolved. An open channel is never garbage-collected. */
  close(): void {
    this.#isClosing = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#isClosing && this.#waiting.length === 0) this.#channel?.port1.close();
  }
}
