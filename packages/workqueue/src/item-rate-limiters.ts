import { FailureCounter } from "./failure-counter.js";
import type { RateLimiter } from "./rate-limiter.js";

/** `baseDelayMs`, doubled with every failure of the item, up to `maxDelayMs`. */
export class ItemExponentialFailureRateLimiter<T> implements RateLimiter<T> {
  readonly #failures = new FailureCounter<T>();
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;

  /** @throws RangeError for a delay that is negative, infinite or not a number. */
  constructor({ baseDelayMs, maxDelayMs }: { baseDelayMs: number; maxDelayMs: number }) {
    checkDelays({ baseDelayMs, maxDelayMs });
    this.#baseDelayMs = baseDelayMs;
    this.#maxDelayMs = maxDelayMs;
  }

  when(item: T): number {
    // 2^1023 is the largest power of two that a number can hold. Delays near it exceed every maximum.
    const exponent = Math.min(this.#failures.count(item), 1023);
    return Math.min(this.#baseDelayMs * 2 ** exponent, this.#maxDelayMs);
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.get(item);
  }
}

/** `fastDelayMs` for the first `maxFastAttempts` failures of the item, `slowDelayMs` for later ones. */
export class ItemFastSlowRateLimiter<T> implements RateLimiter<T> {
  readonly #failures = new FailureCounter<T>();
  readonly #fastDelayMs: number;
  readonly #slowDelayMs: number;
  readonly #maxFastAttempts: number;

  /** @throws RangeError for a delay that is negative, infinite or not a number. */
  constructor({
    fastDelayMs,
    slowDelayMs,
    maxFastAttempts,
  }: {
    fastDelayMs: number;
    slowDelayMs: number;
    maxFastAttempts: number;
  }) {
    checkDelays({ fastDelayMs, slowDelayMs });
    this.#fastDelayMs = fastDelayMs;
    this.#slowDelayMs = slowDelayMs;
    this.#maxFastAttempts = maxFastAttempts;
  }

  when(item: T): number {
    return this.#failures.count(item) < this.#maxFastAttempts ? this.#fastDelayMs : this.#slowDelayMs;
  }

  forget(item: T): void {
    this.#failures.forget(item);
  }

  numRequeues(item: T): number {
    return this.#failures.get(item);
  }
}

function checkDelays(delays: Readonly<Record<string, number>>): void {
  for (const [name, delayMs] of Object.entries(delays)) {
    if (!(delayMs >= 0 && delayMs < Infinity))
      throw new RangeError(`${name} must be a number of milliseconds from zero up, not ${delayMs}`);
  }
}
