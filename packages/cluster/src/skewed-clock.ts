import type { Clock, Timer, TimerOptions } from "@kubewright/clock";

/** Another clock whose wall time is off: timers and monotonic time pass as they do there. */
export class SkewedClock implements Clock {
  readonly #clock: Clock;
  #skewMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets wall time forward, or back. */
  jump(byMs: number): void {
    this.#skewMs += byMs;
  }

  now(): number {
    return this.#clock.now() + this.#skewMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    return this.#clock.setTimer(delayMs, callback, options);
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return this.#clock.sleep(delayMs, signal, options);
  }

  turn(): Promise<void> {
    return this.#clock.turn();
  }

  keepAlive(): () => void {
    return this.#clock.keepAlive();
  }
}
