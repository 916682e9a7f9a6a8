import type { Clock, Random } from "@kubewright/clock";

/** Delays each element of a stream by a random time and keeps the order. Supports one reader, once. */
export class DelayedEvents<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #events: AsyncIterator<T>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxDelayMs: number;
  readonly #queue: { readonly result: IteratorResult<T, unknown>; readonly dueMs: number }[] = [];
  #lastMs = 0;
  #started = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(
    events: AsyncIterable<T>,
    options: { readonly clock: Clock; readonly random: Random; readonly maxDelayMs: number },
  ) {
    this.#events = events[Symbol.asyncIterator]();
    this.#clock = options.clock;
    this.#random = options.random;
    this.#maxDelayMs = options.maxDelayMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#started) {
      this.#started = true;
      void this.#read();
    }
    while (this.#queue.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    const next = this.#queue.shift();
    if (next === undefined) return { done: true, value: undefined };
    const leftMs = next.dueMs - this.#clock.now();
    if (leftMs > 0) await this.#clock.sleep(leftMs, undefined, { background: true });
    return next.result.done === true ? { done: true, value: undefined } : next.result;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#end();
    void this.#events.return?.();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Reads elements as soon as they are available. */
  async #read(): Promise<void> {
    while (!this.#ended) {
      let result: IteratorResult<T, unknown>;
      try {
        result = await this.#events.next();
      } catch {
        return this.#end();
      }
      const delayMs = Math.round(this.#random.next() * this.#maxDelayMs);
      this.#lastMs = Math.max(this.#lastMs, this.#clock.now() + delayMs);
      this.#queue.push({ result, dueMs: this.#lastMs });
      this.#notify();
      if (result.done === true) return;
    }
  }

  #end(): void {
    this.#ended = true;
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
