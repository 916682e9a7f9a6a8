import type { Clock, Timer, TimerOptions } from "@kubewright/clock";

/**
 * The clock of a process on a machine. Its wall time may be off. The process may be paused, so that no timer fires
 * although time passes.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  #skewMs = 0;
  #isPaused = false;
  #resumed = Promise.withResolvers<void>();
  /** Timers that came due during the pause, in that order. */
  #dueTimers: PausableTimer[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Moves wall time forward, or back for negative values. */
  jump(byMs: number): void {
    this.#skewMs += byMs;
  }

  /** Pauses or resumes the process. Timers that came due meanwhile then fire in order. */
  set isPaused(isPaused: boolean) {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) {
      this.#resumed = Promise.withResolvers();
      return;
    }
    const dueTimers = this.#dueTimers;
    this.#dueTimers = [];
    for (const timer of dueTimers) timer.resume();
    this.#resumed.resolve();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Promise of the end of the pause; `undefined` when the process is not paused. */
  get resumed(): Promise<void> | undefined {
    return this.#isPaused ? this.#resumed.promise : undefined;
  }

  now(): number {
    return this.#clock.now() + this.#skewMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    const timer = new PausableTimer(this.#clock, callback, options);
    timer.set(delayMs, () => {
      if (this.#isPaused) this.#dueTimers.push(timer);
      else callback();
    });
    return timer;
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    if (signal === undefined) return new Promise((resolve) => void this.setTimer(delayMs, resolve, options));
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        timer.cancel();
        reject(signal.reason as Error);
      };
      const fire = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer = this.setTimer(delayMs, fire, options);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  yieldToEventLoop(): Promise<void> {
    return this.#clock.yieldToEventLoop();
  }

  keepAlive(): () => void {
    return this.#clock.keepAlive();
  }
}

/** A timer that is set again when it comes due while its process is paused. */
class PausableTimer implements Timer {
  readonly #clock: Clock;
  readonly #callback: () => void;
  readonly #options: TimerOptions | undefined;
  #timer: Timer | undefined;
  #cancelled = false;

  constructor(clock: Clock, callback: () => void, options: TimerOptions | undefined) {
    this.#clock = clock;
    this.#callback = callback;
    this.#options = options;
  }

  set(delayMs: number, callback: () => void): void {
    this.#timer = this.#clock.setTimer(delayMs, callback, this.#options);
  }

  resume(): void {
    if (!this.#cancelled) this.set(0, this.#callback);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#timer?.cancel();
  }
}
