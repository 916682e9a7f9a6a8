import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";

/**
 * A time of its own that another clock moves, `factor` times as fast: at 60, a minute of waiting takes a second. It begins when
 * it is made, with the other clock's time or any other.
 */
export class ScaledClock implements Clock {
  readonly #clock: Clock;
  readonly #factor: number;
  readonly #wallStartMs: number;
  readonly #monotonicStartMs: number;

  /**
   * @param startMs - The time to begin with, in epoch milliseconds. Default: the other clock's.
   * @throws RangeError when the factor is not above zero.
   */
  constructor(clock: Clock, factor: number, startMs: number = clock.now()) {
    if (!(factor > 0 && factor < Infinity)) throw new RangeError(`a clock cannot run ${factor} times as fast`);
    this.#clock = clock;
    this.#factor = factor;
    this.#wallStartMs = startMs;
    this.#monotonicStartMs = clock.monotonic();
  }

  now(): number {
    return this.#wallStartMs + this.monotonic();
  }

  monotonic(): number {
    return (this.#clock.monotonic() - this.#monotonicStartMs) * this.#factor;
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    return this.#clock.setTimer(delayMs / this.#factor, callback, options);
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return sleepOn(this, delayMs, signal, options);
  }

  yieldToEventLoop(): Promise<void> {
    return this.#clock.yieldToEventLoop();
  }

  keepAlive(): () => void {
    return this.#clock.keepAlive();
  }
}
