import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";

/**
 * Another clock's time until it is stopped. After {@link stop} no timer fires, and nothing keeps the process alive;
 * reading the time still works. For components that are discarded while the other clock continues.
 */
export class StoppableClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  readonly #keepAlives = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    if (this.#stopped) return { cancel: () => {} };
    const timer = this.#clock.setTimer(
      delayMs,
      () => {
        this.#timers.delete(timer);
        callback();
      },
      options,
    );
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return sleepOn(this, delayMs, signal, options);
  }

  yieldToEventLoop(): Promise<void> {
    return this.#clock.yieldToEventLoop();
  }

  keepAlive(): () => void {
    if (this.#stopped) return () => {};
    const end = this.#clock.keepAlive();
    this.#keepAlives.add(end);
    return () => {
      this.#keepAlives.delete(end);
      end();
    };
  }

  /** Cancels all timers: pending sleeps never resolve. Further calls have no effect. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const end of this.#keepAlives) end();
    this.#keepAlives.clear();
  }
}
