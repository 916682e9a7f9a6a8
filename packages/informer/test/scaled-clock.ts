import { type Clock, type Timer, type TimerOptions, realClock } from "@kubewright/clock";

/**
 * Real time, accelerated: back-offs of seconds take milliseconds, over real sockets. Counts its timers, so that a test
 * can detect leaked ones.
 */
export class ScaledClock implements Clock {
  readonly #timers = new Set<Timer | (() => void)>();
  readonly #startMs = realClock.now();

  constructor(readonly factor: number) {}

  /** Number of pending timers, and of keep-alives that were not released. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#startMs + this.monotonic();
  }

  monotonic(): number {
    return realClock.monotonic() * this.factor;
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    const inner = realClock.setTimer(
      delayMs / this.factor,
      () => {
        this.#timers.delete(inner);
        callback();
      },
      options,
    );
    this.#timers.add(inner);
    return {
      cancel: () => {
        this.#timers.delete(inner);
        inner.cancel();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        timer.cancel();
        reject(signal!.reason as Error);
      };
      const timer = this.setTimer(
        delayMs,
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        options,
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  yieldToEventLoop(): Promise<void> {
    return realClock.yieldToEventLoop();
  }

  keepAlive(): () => void {
    const release = realClock.keepAlive();
    this.#timers.add(release);
    return () => {
      this.#timers.delete(release);
      release();
    };
  }
}
