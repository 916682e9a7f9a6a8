import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";
import { nextMacrotask } from "./next-macrotask.js";
import { type HeapTimer, TimerHeap } from "./timer-heap.js";

/** So many timers may fire, then sockets and signals get their turn. A count, so that it is the same on every machine. */
const STEPS_PER_MACROTASK = 64;

/**
 * A clock that moves only when told to.
 *
 * Between one due timer and the next it lets everything settle: it waits until no promise is ready and nobody waits in
 * {@link turn}. It never looks at wall time, so equal calls give equal orders on every machine. Code that waits for
 * anything but promises and this clock (a socket, a worker) is invisible to it; the event loop turns for such at the
 * beginning and the end of every {@link advance}, and after each 64th timer.
 */
export class SimulatedClock implements Clock {
  readonly #timers = new TimerHeap<SimulatedTimer>();
  readonly #holds = new Set<object>();
  readonly #startMs: number;
  #nowMs: number;
  #sequence = 0;
  #foreground = 0;
  #turnsWaiting = 0;
  #skewMs = 0;
  #advancing = false;

  /** @param start - RFC 3339 text or epoch milliseconds. */
  constructor(start: string | number = 0) {
    this.#startMs = typeof start === "number" ? start : Date.parse(start);
    if (!Number.isFinite(this.#startMs)) throw new RangeError(`start ${JSON.stringify(start)} is not a time`);
    this.#nowMs = this.#startMs;
  }

  now(): number {
    return this.#nowMs + this.#skewMs;
  }

  monotonic(): number {
    return this.#nowMs - this.#startMs;
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    const background = options?.background ?? false;
    const dueMs = this.#nowMs + Math.max(0, delayMs);
    const timer = new SimulatedTimer(dueMs, this.#sequence++, callback, background, this.#remove);
    this.#timers.push(timer);
    if (!background) this.#foreground++;
    return timer;
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return sleepOn(this, delayMs, signal, options);
  }

  async turn(): Promise<void> {
    this.#turnsWaiting++;
    await nextMacrotask();
    this.#turnsWaiting--;
  }

  /** Only counted: whoever advances the clock decides how long there is something to wait for. */
  keepAlive(): () => void {
    const hold = {};
    this.#holds.add(hold);
    return () => void this.#holds.delete(hold);
  }

  /** How many would keep the process alive on the real clock. */
  get holds(): number {
    return this.#holds.size;
  }

  /** Timers that count as work still to come; background ones do not. */
  get pendingTimers(): number {
    return this.#foreground;
  }

  /** Monotonic milliseconds until the next timer of any kind is due, if there is one. */
  get nextTimerInMs(): number | undefined {
    const next = this.#timers.peek();
    return next === undefined ? undefined : next.dueMs - this.#nowMs;
  }

  /**
   * Moves time forward by `durationMs`, firing everything due on the way in order of due time, then of creation, and
   * settling before the first, after each, and at the end.
   *
   * @throws Error when called while another `advance` is under way.
   */
  async advance(durationMs: number): Promise<void> {
    if (!(durationMs >= 0)) throw new RangeError(`cannot advance by ${durationMs} ms`);
    if (this.#advancing) throw new Error("the simulated clock is being advanced already");
    this.#advancing = true;
    try {
      const endMs = this.#nowMs + durationMs;
      await this.settle();
      let steps = 0;
      for (let next = this.#timers.peek(); next !== undefined && next.dueMs <= endMs; next = this.#timers.peek()) {
        this.#nowMs = next.dueMs;
        next.cancel();
        next.callback();
        if (++steps % STEPS_PER_MACROTASK === 0) await nextMacrotask();
        else await promisesDrained();
        if (this.#turnsWaiting > 0) await this.settle();
      }
      if (steps > 0) await this.settle();
      this.#nowMs = endMs;
    } finally {
      this.#advancing = false;
    }
  }

  /** Resolves once nothing can happen before time moves on. */
  async settle(): Promise<void> {
    do await nextMacrotask();
    while (this.#turnsWaiting > 0);
  }

  /** Sets wall time forward or back, as an operator would; timers and `monotonic` do not notice. */
  jump(byMs: number): void {
    this.#skewMs += byMs;
  }

  readonly #remove = (timer: SimulatedTimer): void => {
    if (timer.index < 0) return;
    this.#timers.remove(timer);
    if (!timer.background) this.#foreground--;
  };
}

class SimulatedTimer implements HeapTimer, Timer {
  index = -1;

  constructor(
    readonly dueMs: number,
    readonly sequence: number,
    readonly callback: () => void,
    readonly background: boolean,
    readonly remove: (timer: SimulatedTimer) => void,
  ) {}

  cancel(): void {
    this.remove(this);
  }
}

/**
 * From within the promise queue only: Node's ticks come after it, and before everything the event loop would turn for. Where
 * there are none, as in browsers, the event loop turns.
 */
function promisesDrained(): Promise<void> {
  return typeof process === "undefined" ? nextMacrotask() : new Promise((resolve) => process.nextTick(resolve));
}
