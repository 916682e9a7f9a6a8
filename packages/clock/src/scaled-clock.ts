import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";

/**
 * Another clock's time, passing `factor` times as fast from the moment this is made: at 60, a minute of waiting takes a
 * second.
 */
export class ScaledClock implements Clock {
  readonly #clock: Clock;
  readonly #factor: number;
  readonly #wallStartMs: number;
  readonly #monotonicStartMs: number;

  /** @throws RangeError when the factor is not above zero. */
  constructor(clock: Clock, factor: number) {
    if (!(factor > 0 && factor < Infinity)) throw new RangeError(`a clock cannot run ${factor} times as fast`);
    this.#clock = clock;
    this.#factor = factor;
    this.#wallStartMs = clock.now();
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

  turn(): Promise<void> {
    return this.#clock.turn();
  }

  keepAlive(): () => void {
    return this.#clock.keepAlive();
  }
}
