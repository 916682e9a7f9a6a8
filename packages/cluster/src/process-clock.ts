import type { Clock, Timer, TimerOptions } from "@kubewright/clock";

/**
 * Another clock, as a process on some machine has it: its wall time may be off, and the process may stand still, which lets no
 * timer fire although time goes on.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  #skewMs = 0;
  #isPaused = false;
  #resumed = Promise.withResolvers<void>();
  /** Timers whose time came meanwhile, in that order. */
  #dueTimers: PausableTimer[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets wall time forward, or back. */
  jump(byMs: number): void {
    this.#skewMs += byMs;
  }

  /** Lets the process stand still, or go on: what was due meanwhile is then done in order. */
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

  /** While it stands still: resolves when it goes on. */
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

/** A timer that is set anew when its time comes while its process stands still. */
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
