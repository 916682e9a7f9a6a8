import type { Clock } from "@kubewright/clock";

const RESET_AFTER_MS = 60_000;

/**
 * For how long a kind of error is answered by trying again at once: from the first on, and starting over when there was
 * none for a minute.
 *
 * @see kubernetes v1.36 client-go tools/cache/retry_with_deadline.go
 */
export class RetryWindow {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #windowMs: number;
  #firstMs = -Infinity;
  #lastMs = -Infinity;

  /** @param windowMs - 0: never try again at once. */
  constructor(clock: Pick<Clock, "monotonic">, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Notes an error, and tells whether to try again at once. */
  allowsRetry(): boolean {
    if (this.#windowMs <= 0) return false;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#lastMs >= RESET_AFTER_MS) this.#firstMs = nowMs;
    this.#lastMs = nowMs;
    if (nowMs - this.#firstMs <= this.#windowMs) return true;
    this.#firstMs = this.#lastMs = -Infinity;
    return false;
  }
}
