import type { Clock } from "./clock.js";

/**
 * A token bucket on an injected clock: starts full with `burst` tokens and refills at `perSecond`.
 *
 * Upstream: golang.org/x/time/rate as client-go uses it.
 */
export class TokenBucket {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #lastMs: number;

  constructor(options: { clock: Pick<Clock, "monotonic">; perSecond: number; burst: number }) {
    this.#clock = options.clock;
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#lastMs = options.clock.monotonic();
  }

  /**
   * Takes a token, and returns the milliseconds to wait before using it. The number of tokens can become negative
   * without bound.
   */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }

  /** Takes a token if one is available. Otherwise changes nothing and returns false. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Returns a reserved token that will not be used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /** Whether all `burst` tokens are available. */
  get isFull(): boolean {
    this.#refill();
    return this.#tokens === this.#burst;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#lastMs) / 1000) * this.#perSecond);
    this.#lastMs = nowMs;
  }
}
