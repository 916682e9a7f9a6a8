import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";

/**
 * A clock that runs `factor` times as fast as another clock: with factor 60, a wait of one minute takes one second. It
 * starts when it is created, with the other clock's time or a given time.
 */
export class ScaledClock implements Clock {
  readonly #clock: Clock;
  readonly #factor: number;
  readonly #wallStartMs: number;
  readonly #monotonicStartMs: number;

  /**
   * @param startMs - Start time in epoch milliseconds. Default: the other clock's time.
   * @throws RangeError if the factor is not a finite number above zero.
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
