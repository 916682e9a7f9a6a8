import type { Clock, Timer, TimerOptions } from "./clock.js";
import { nextMacrotask } from "./next-macrotask.js";
import { sleepOn } from "./sleep.js";

/** Longest delay passed to a runtime timer. Beyond 2^31-1 ms such timers fire immediately. */
const MAX_RUNTIME_DELAY_MS = 3_600_000;

/** The machine's time. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, callback, options) => new RealTimer(delayMs, callback, options),
  sleep: (delayMs, signal, options) => sleepOn(realClock, delayMs, signal, options),
  yieldToEventLoop: nextMacrotask,
  keepAlive: () => {
    const timer = new RealTimer(Infinity, () => undefined);
    return () => timer.cancel();
  },
};

class RealTimer implements Timer {
  readonly #dueMs: number;
  readonly #callback: () => void;
  readonly #background: boolean;
  #handle: NodeJS.Timeout | undefined;

  constructor(delayMs: number, callback: () => void, options: TimerOptions = {}) {
    this.#dueMs = performance.now() + delayMs;
    this.#callback = callback;
    this.#background = options.background ?? false;
    this.#arm(delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  /**
   * Splits long delays into several runtime timers. A runtime timer can fire slightly early, so the remaining time is
   * waited for again.
   */
  #arm(delayMs: number): void {
    this.#handle = setTimeout(
      () => {
        const leftMs = this.#dueMs - performance.now();
        if (leftMs > 0) this.#arm(leftMs);
        else this.#callback();
      },
      Math.min(Math.max(0, Math.ceil(delayMs)), MAX_RUNTIME_DELAY_MS),
    );
    // In browsers the handle is a number, and there is no process to keep alive.
    if (this.#background && typeof this.#handle === "object") this.#handle.unref();
  }
}
