import type { Schedule } from "./schedule.js";

/**
 * `@every`: a fixed delay from the time passed to `next`. The time zone has no influence.
 *
 * @see robfig/cron v3.0.1 constantdelay.go
 */
export class ConstantDelaySchedule implements Schedule {
  readonly timeZone: string;
  readonly #delayMs: number;

  /** @param nanoseconds - Truncated to whole seconds; at least one second. */
  constructor(nanoseconds: bigint, timeZone: string) {
    this.timeZone = timeZone;
    this.#delayMs = Math.max(1, Number(nanoseconds / 1_000_000_000n)) * 1000;
  }

  next(afterMs: number): number | undefined {
    const nextMs = Math.floor(afterMs / 1000) * 1000 + this.#delayMs;
    return Math.abs(nextMs) <= 8.64e15 ? nextMs : undefined;
  }
}
