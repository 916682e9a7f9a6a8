import type { Clock, Timer, TimerOptions } from "@kubewright/clock";

/**
 * The clock of one of several processes on one simulated clock. A process can be paused, suspended with its machine, or
 * killed. Callbacks reach the process only through {@link whenRunning}.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  #pausedCallbacks: (() => void)[] | undefined;
  #isDead = false;
  /** Monotonic time that passed while the machine was suspended. */
  #suspendedMs = 0;
  /** Seconds of this process per second of the simulated clock. */
  readonly #rate: number;

  constructor(clock: Clock, rate = 1) {
    this.#clock = clock;
    this.#rate = rate;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /**
   * Pauses the process, as SIGSTOP or a long garbage collection does. With `isSuspended` the machine is suspended, and
   * monotonic time does not advance.
   *
   * @returns A function that resumes the process and delivers the pending callbacks in order.
   */
  pause({ isSuspended = false } = {}): () => void {
    if (this.#pausedCallbacks !== undefined || this.#isDead) return () => {};
    const callbacks: (() => void)[] = (this.#pausedCallbacks = []);
    const pausedAtMs = this.#clock.monotonic();
    return () => {
      if (this.#pausedCallbacks !== callbacks) return;
      if (isSuspended) this.#suspendedMs += this.#clock.monotonic() - pausedAtMs;
      this.#pausedCallbacks = undefined;
      for (const callback of callbacks) callback();
    };
  }

  /** Kills the process, as SIGKILL does. */
  kill(): void {
    this.#isDead = true;
    this.#pausedCallbacks = undefined;
  }

  /** Calls back immediately, or when the process is resumed. */
  whenRunning(callback: () => void): void {
    if (this.#isDead) return;
    if (this.#pausedCallbacks === undefined) callback();
    else this.#pausedCallbacks.push(callback);
  }

  untilRunning(): Promise<void> {
    return new Promise((resolve) => this.whenRunning(resolve));
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return (this.#clock.monotonic() - this.#suspendedMs) * this.#rate;
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    let isCancelled = false;
    const timer = this.#clock.setTimer(
      Math.max(0, delayMs) / this.#rate,
      () => this.whenRunning(() => (isCancelled ? undefined : callback())),
      options,
    );
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  async sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = this.setTimer(delayMs, resolve, options);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  yieldToEventLoop(): Promise<void> {
    return this.#clock.yieldToEventLoop();
  }

  keepAlive(): () => void {
    return this.#clock.keepAlive();
  }
}
