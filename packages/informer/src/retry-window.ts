import type { Clock } from "@kubewright/clock";

const RESET_AFTER_MS = 60_000;

/**
 * The window in which a kind of error is retried immediately. It begins with the first error, and restarts after a
 * minute without errors.
 *
 * @see kubernetes v1.36 client-go tools/cache/retry_with_deadline.go
 */
export class RetryWindow {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #windowMs: number;
  #firstMs = -Infinity;
  #lastMs = -Infinity;

  /** @param windowMs - 0: never retry immediately. */
  constructor(clock: Pick<Clock, "monotonic">, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Records an error, and returns whether to retry immediately. */
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
