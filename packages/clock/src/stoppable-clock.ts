import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";

/**
 * Another clock's time, until it is stopped: then no timer fires any more, and nothing keeps the process alive. For parts that
 * are thrown away while the other clock goes on. It tells the time even then.
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

  /** Whoever sleeps sleeps on for ever. Does nothing when called again. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const end of this.#keepAlives) end();
    this.#keepAlives.clear();
  }
}
