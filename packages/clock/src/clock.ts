/**
 * The source of time for all code that reads the time or waits.
 *
 * Code must wait only for promises and this clock. {@link SimulatedClock} depends on that: it detects when all work due
 * at one instant is done, and then jumps to the next timer.
 */
export interface Clock {
  /** Wall time: milliseconds since the Unix epoch. Can jump when the system clock is set. */
  now(): number;

  /** Milliseconds since a fixed point. Never goes back. For delays and deadlines. */
  monotonic(): number;

  /**
   * Calls `callback` once, after `delayMs` milliseconds. A delay of zero or less fires as soon as possible, but never
   * before this method returns. Delays of any length are exact, also beyond the limit of the runtime's timers.
   */
  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer;

  /** Resolves after `delayMs` milliseconds. Rejects with the signal's reason if the signal aborts first. */
  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void>;

  /**
   * Lets everything else that is ready run first: other promises and, on the real clock, sockets and timers. Long loops
   * call it every few milliseconds of work.
   */
  yieldToEventLoop(): Promise<void>;

  /**
   * Keeps the process alive until the returned function is called. Further calls of that function have no effect. For
   * components that run until they are stopped: while idle they may have no socket, and only background timers.
   * `pendingTimers` of a simulation does not count it.
   */
  keepAlive(): () => void;
}

export interface Timer {
  /** Has no effect if the timer has fired or was cancelled before. */
  cancel(): void;
}

export interface TimerOptions {
  /**
   * A background task, such as a lease renewal, a watch time-out or a metrics tick. Such a timer keeps neither the
   * process alive nor a simulation running. Use it only if no caller waits for the timer, or if the waiting code holds
   * {@link Clock.keepAlive}. Default false.
   */
  readonly background?: boolean;
}
