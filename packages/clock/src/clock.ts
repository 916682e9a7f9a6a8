/**
 * Everything that reads or waits on time takes one of these.
 *
 * Nothing else may wait outside the promise queue: that is what lets a {@link SimulatedClock} tell when all work due at
 * one instant is done, and jump to the next.
 */
export interface Clock {
  /** Wall time: milliseconds since the Unix epoch. May jump when the system's clock is set. */
  now(): number;

  /** Milliseconds since some fixed point; never goes back. For delays and deadlines. */
  monotonic(): number;

  /**
   * Calls `callback` once, `delayMs` milliseconds from now (at once, but never before this returns, when not positive).
   * Delays of any length are exact: they are not cut to what the runtime's timers can hold.
   */
  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer;

  /** Resolves `delayMs` milliseconds from now; rejects with the signal's reason if it aborts first. */
  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void>;

  /**
   * Lets everything else that is ready to run go first: other promises, and, on the real clock, sockets and timers.
   * Long loops call it every few milliseconds of work.
   */
  yieldToEventLoop(): Promise<void>;

  /**
   * Keeps the process alive until the answered function is called, which does nothing more when called again. For
   * whatever runs until it is told to stop: between one thing to do and the next it may hold no socket, and nothing but
   * timers in the background. No timer of a simulation: `pendingTimers` does not count it.
   */
  keepAlive(): () => void;
}

export interface Timer {
  /** Does nothing when the timer has fired or was cancelled before. */
  cancel(): void;
}

export interface TimerOptions {
  /**
   * Housekeeping (a lease renewal, a watch's time-out, a metrics tick): keeps neither the process alive nor a simulation
   * going. Only for what nobody waits for, or where whoever waits holds {@link Clock.keepAlive}. Default false.
   */
  readonly background?: boolean;
}
