import type { Clock, Timer, TimerOptions } from "./clock.js";
import { sleepOn } from "./sleep.js";
import { Macrotasks } from "./macrotasks.js";
import { nextMacrotask } from "./next-macrotask.js";
import { type HeapTimer, TimerHeap } from "./timer-heap.js";

/** So many timers may fire, then sockets and signals get their turn. A count, so that it is the same on every machine. */
const TIMERS_PER_MACROTASK = 64;

export interface SimulatedClockOptions {
  /**
   * Timers that are due at one instant fire in an order that follows from this number, and not in that of their creation. An
   * order depends on nothing but the number, when the timers were set, and which other timers were set at that instant.
   */
  readonly timerOrderSeed?: number;
  /**
   * So often the clock may be asked for something within one millisecond; then {@link SimulatedClock.monotonic} throws a
   * {@link StuckError}, which ends the loops that ask without end, also those that let ever smaller parts of a millisecond
   * pass. Default: as often as one likes.
   */
  readonly maxCallsPerInstant?: number;
}

/** Time does not go on, because something goes on and on without any time passing. */
export class StuckError extends Error {
  override readonly name = "StuckError";
}

/**
 * A clock that moves only when told to.
 *
 * Between one due timer and the next it lets everything settle: it waits until no promise is ready and nobody waits in
 * {@link yieldToEventLoop}. It never looks at wall time, so equal calls give equal orders on every machine. Code that waits for
 * anything but promises and this clock (a socket, a worker) is invisible to it; the event loop turns for such at the
 * beginning and the end of every {@link advance}, and after each 64th timer.
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
  /** While it is being advanced. */
  #macrotasks: Macrotasks | undefined;
  readonly #timerOrderSeed: number | undefined;
  readonly #maxCalls: number;
  /** In the present millisecond. */
  #calls = 0;
  #timersSet = 0;

  /** @param start - RFC 3339 text or epoch milliseconds. */
  constructor(
    start: string | number = 0,
    { timerOrderSeed, maxCallsPerInstant = Number.POSITIVE_INFINITY }: SimulatedClockOptions = {},
  ) {
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

  /** @throws StuckError when it was asked too often at this instant. */
  monotonic(): number {
    if (++this.#calls > this.#maxCalls)
      throw new StuckError(`simulated time does not advance: the clock was called ${this.#maxCalls} times at one instant`);
    return this.#nowMs - this.#startMs;
  }

  /** Whether so much has been asked for at this instant that nothing is answered any more. */
  get isStuck(): boolean {
    return this.#calls > this.#maxCalls;
  }

  /** Answers again, for those who are told to stop. */
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

  /** Only counted: whoever advances the clock decides how long there is something to wait for. */
  keepAlive(): () => void {
    const token = {};
    this.#keepAlives.add(token);
    return () => void this.#keepAlives.delete(token);
  }

  /** How many would keep the process alive on the real clock. */
  get keepAliveCount(): number {
    return this.#keepAlives.size;
  }

  /** Timers that count as work still to come; background ones do not. */
  get pendingTimers(): number {
    return this.#foregroundTimers;
  }

  /** Monotonic milliseconds until the next timer of any kind is due, if there is one. */
  get nextTimerInMs(): number | undefined {
    const next = this.#timers.peek();
    return next === undefined ? undefined : next.dueMs - this.#nowMs;
  }

  /**
   * Moves time forward by `durationMs`, firing everything due on the way in order of due time, then of creation, and
   * settling before the first, after each, and at the end. Stops early, at the instant at which it is {@link isStuck}.
   *
   * @throws Error when called while another `advance` is under way.
   */
  async advance(durationMs: number): Promise<void> {
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
        if (++steps % TIMERS_PER_MACROTASK === 0) await macrotasks.next();
        else await drainPromises(macrotasks);
        if (this.#pendingYields > 0) await this.settle();
        if (this.isStuck) return;
      }
      if (this.isStuck) return;
      if (steps > 0) await this.settle();
      this.#moveTo(endMs);
    } finally {
      this.#macrotasks = undefined;
      macrotasks.close();
    }
  }

  /** Resolves once nothing can happen before time moves on. */
  async settle(): Promise<void> {
    do await this.#nextMacrotask();
    while (this.#pendingYields > 0 && !this.isStuck);
  }

  /** Sets wall time forward or back, as an operator would; timers and `monotonic` do not notice. */
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

/** One of 2^32 places among the timers of an instant. Depends on nothing that happened at other instants. */
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
 * From within the promise queue only: Node's ticks come after it, and before everything the event loop would turn for. Where
 * there are none, as in browsers, the event loop turns.
 */
function drainPromises(macrotasks: Macrotasks): Promise<void> {
  return typeof process === "undefined" ? macrotasks.next() : new Promise((resolve) => process.nextTick(resolve));
}
