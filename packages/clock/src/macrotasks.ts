/** Turns of the event loop, many in a row. */
export class Macrotasks {
  /** Where there is no `setImmediate`. */
  readonly #channel: InstanceType<typeof MessageChannel> | undefined;
  readonly #waiting: (() => void)[] = [];
  #isClosing = false;

  constructor() {
    if (typeof setImmediate === "function") return;
    // Browsers make timers wait for 4 ms; messages come at once. To make a channel takes longer than to send on it.
    this.#channel = new MessageChannel();
    const { port1 } = this.#channel;
    port1.addEventListener("message", () => {
      this.#waiting.shift()!();
      this.#closeWhenDone();
    });
    port1.start();
  }

  /** Resolves when all that is ready has run, and sockets, signals and the like have had their turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#channel === undefined) setImmediate(resolve);
      else {
        this.#waiting.push(resolve);
        this.#channel.port2.postMessage(undefined);
      }
    });
  }

  /** Lets go of the channel, which is never collected before, once nobody waits any more. */
  close(): void {
    this.#isClosing = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#isClosing && this.#waiting.length === 0) this.#channel?.port1.close();
  }
}
