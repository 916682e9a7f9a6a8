import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";
import { Macrotasks } from "./macrotasks.js";
import { nextMacrotask } from "./next-macrotask.js";
import { type HeapTimer, TimerHeap } from "./timer-heap.js";

/**
 * Number of timers to fire before yielding to sockets and signals. A count, not a duration, so that every machine
 * yields at the same timer.
 */
const TIMERS_PER_MACROTASK = 64;

export interface SimulatedClockOptions {
  /**
   * Seed for the order of timers that are due at the same instant. Default: order of creation. The order depends only
   * on the seed, the times when the timers were set, and the other timers set at the same instant.
   */
  readonly timerOrderSeed?: number;
  /**
   * Maximum number of clock calls within one millisecond. Beyond it, {@link SimulatedClock.monotonic} throws a {@link
   * StuckError}. The error ends endless loops, including loops that let ever smaller fractions of a millisecond pass.
   * Default: unlimited.
   */
  readonly maxCallsPerInstant?: number;
  /**
   * Called after each timer; returns whether to yield to sockets and signals before the next one. For clocks of servers,
   * whose clients must not wait for the end of an {@link SimulatedClock.advance}. Default: after every 64th timer.
   */
  readonly mustYield?: () => boolean;
}

/** Simulated time does not advance, because code calls the clock endlessly at one instant. */
export class StuckError extends Error {
  override readonly name = "StuckError";
}

/**
 * A clock that only {@link advance} moves.
 *
 * Before each due timer it lets everything settle: it waits until no promise is ready and no caller waits in {@link
 * yieldToEventLoop}. It never reads wall time, so equal calls give equal orders on every machine. It cannot detect code
 * that waits for anything else than promises and this clock, such as a socket or a worker. For such code the event loop
 * runs at the beginning and the end of every {@link advance}, and after every 64th timer.
 */
export class SimulatedClock implements Clock {
  readonly #timers = new TimerHeap<SimulatedTimer>();
  readonly #keepAlives = new Set<object>();
  readonly #startMs: number;
  #nowMs: number;
  #sequence = 0;
  #foregroundTimers = 0;
  #pendingYields = 0;
  #skewMs = 0;
  /** Set while {@link advance} runs. */
  #macrotasks: Macrotasks | undefined;
  readonly #timerOrderSeed: number | undefined;
  readonly #maxCalls: number;
  readonly #mustYield: (() => boolean) | undefined;
  /** Clock calls in the current millisecond. */
  #calls = 0;
  #timersSet = 0;

  /** @param start - RFC 3339 text or epoch milliseconds. */
  constructor(
    start: string | number = 0,
    { timerOrderSeed, maxCallsPerInstant = Number.POSITIVE_INFINITY, mustYield }: SimulatedClockOptions = {},
  ) {
    this.#mustYield = mustYield;
    this.#timerOrderSeed = timerOrderSeed;
    this.#maxCalls = maxCallsPerInstant;
    this.#startMs = typeof start === "number" ? start : Date.parse(start);
    if (!Number.isFinite(this.#startMs)) throw new RangeError(`start ${JSON.stringify(start)} is not a time`);
    this.#nowMs = this.#startMs;
  }

  now(): number {
    this.#calls++;
    return this.#nowMs + this.#skewMs;
  }

  /** @throws StuckError after too many calls at this instant. */
  monotonic(): number {
    if (++this.#calls > this.#maxCalls)
      throw new StuckError(
        `simulated time does not advance: the clock was called ${this.#maxCalls} times at one instant`,
      );
    return this.#nowMs - this.#startMs;
  }

  /** Whether there were so many calls at this instant that {@link monotonic} throws. */
  get isStuck(): boolean {
    return this.#calls > this.#maxCalls;
  }

  /** Resets the number of calls, so that stopped components can use the clock to shut down. */
  clearStuck(): void {
    this.#calls = 0;
  }

  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer {
    this.#calls++;
    const background = options?.background ?? false;
    const dueMs = this.#nowMs + Math.max(0, delayMs);
    const rank =
      this.#timerOrderSeed === undefined ? 0 : rankOf(this.#timerOrderSeed, dueMs, delayMs, this.#timersSet++);
    const timer = new SimulatedTimer(dueMs, rank, this.#sequence++, callback, background, this.#remove);
    this.#timers.push(timer);
    if (!background) this.#foregroundTimers++;
    return timer;
  }

  sleep(delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
    return sleepOn(this, delayMs, signal, options);
  }

  async yieldToEventLoop(): Promise<void> {
    this.#pendingYields++;
    await this.#nextMacrotask();
    this.#pendingYields--;
  }

  /** Only counts: the caller of {@link advance} decides how long the simulation runs. */
  keepAlive(): () => void {
    const token = {};
    this.#keepAlives.add(token);
    return () => void this.#keepAlives.delete(token);
  }

  /** Number of keep-alives that would keep the process alive on the real clock. */
  get keepAliveCount(): number {
    return this.#keepAlives.size;
  }

  /** Number of foreground timers. Background timers do not count. */
  get pendingTimers(): number {
    return this.#foregroundTimers;
  }

  /** Monotonic milliseconds until the next timer, of any kind, is due; `undefined` without timers. */
  get nextTimerInMs(): number | undefined {
    const next = this.#timers.peek();
    return next === undefined ? undefined : next.dueMs - this.#nowMs;
  }

  /**
   * Moves time forward by `durationMs`. Fires all timers due on the way, in order of due time, then of creation.
   * Settles before the first timer, after each timer, and at the end. Stops early at the instant at which {@link
   * isStuck} becomes true, or at which the signal has aborted.
   *
   * @throws Error when another `advance` is running.
   */
  async advance(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (!(durationMs >= 0)) throw new RangeError(`cannot advance by ${durationMs} ms`);
    if (this.#macrotasks !== undefined) throw new Error("the simulated clock is being advanced already");
    const macrotasks = (this.#macrotasks = new Macrotasks());
    try {
      const endMs = this.#nowMs + durationMs;
      await this.settle();
      let steps = 0;
      for (let next = this.#timers.peek(); next !== undefined && next.dueMs <= endMs; next = this.#timers.peek()) {
        this.#moveTo(next.dueMs);
        next.cancel();
        next.callback();
        if (++steps % TIMERS_PER_MACROTASK === 0 || this.#mustYield?.() === true) await macrotasks.next();
        else await drainPromises(macrotasks);
        if (this.#pendingYields > 0) await this.settle();
        if (this.isStuck || signal?.aborted) return;
      }
      if (this.isStuck || signal?.aborted) return;
      if (steps > 0) await this.settle();
      this.#moveTo(endMs);
    } finally {
      this.#macrotasks = undefined;
      macrotasks.close();
    }
  }

  /** Resolves once nothing can happen before time advances. */
  async settle(): Promise<void> {
    do await this.#nextMacrotask();
    while (this.#pendingYields > 0 && !this.isStuck);
  }

  /**
   * Moves wall time forward or back, like an operator who sets the system clock. Timers and `monotonic` are not
   * affected.
   */
  jump(byMs: number): void {
    this.#skewMs += byMs;
  }

  #nextMacrotask(): Promise<void> {
    return this.#macrotasks?.next() ?? nextMacrotask();
  }

  #moveTo(timeMs: number): void {
    if (timeMs === this.#nowMs) return;
    if (Math.floor(timeMs) > Math.floor(this.#nowMs)) this.#calls = 0;
    this.#nowMs = timeMs;
    this.#timersSet = 0;
  }

  readonly #remove = (timer: SimulatedTimer): void => {
    if (timer.index < 0) return;
    this.#timers.remove(timer);
    if (!timer.background) this.#foregroundTimers--;
  };
}

class SimulatedTimer implements HeapTimer, Timer {
  index = -1;

  constructor(
    readonly dueMs: number,
    readonly rank: number,
    readonly sequence: number,
    readonly callback: () => void,
    readonly background: boolean,
    readonly remove: (timer: SimulatedTimer) => void,
  ) {}

  cancel(): void {
    this.remove(this);
  }
}

/** Returns one of 2^32 ranks among the timers of an instant. Does not depend on events at other instants. */
function rankOf(seed: number, dueMs: number, delayMs: number, ordinal: number): number {
  let hash = seed | 0;
  for (const value of [dueMs, dueMs / 2 ** 32, delayMs, ordinal]) {
    hash = Math.imul(hash ^ (value | 0), 0x9e3779b1);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}

/**
 * Resolves when the promise queue is empty. Has to be called from within the promise queue: Node's `nextTick` callbacks
 * run after it, and before anything else of the event loop. Without `nextTick`, as in browsers, yields to the event
 * loop.
 */
function drainPromises(macrotasks: Macrotasks): Promise<void> {
  return typeof process === "undefined" ? macrotasks.next() : new Promise((resolve) => process.nextTick(resolve));
}
