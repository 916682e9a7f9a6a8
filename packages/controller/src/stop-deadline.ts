import type { Clock, Timer } from "@kubewright/clock";

/** How long what is told to stop has, unless somebody says otherwise: controller-runtime's grace period. */
export const STOP_TIMEOUT_MS = 30_000;

/** Something was told to stop and did not in time: it was left behind, and may still be at work. */
export class StopTimeoutError extends Error {
  override readonly name = "StopTimeoutError";
}

export interface StopDeadline {
  readonly clock: Clock;
  /** Tells the work to stop. */
  readonly signal: AbortSignal;
  /** How long it may take then, in milliseconds; may be infinite. */
  readonly limitMs: number;
  /** What is still at work, for the error. */
  readonly unfinished: () => string;
}

/**
 * Waits for work to end, but, once it was told to stop, only so long.
 *
 * @throws What the work throws; {@link StopTimeoutError} when it is late, and what it throws then goes unheard.
 */
export async function withStopDeadline<T>(
  work: Promise<T>,
  { clock, signal, limitMs, unfinished }: StopDeadline,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const giveUp = (): void =>
    late.reject(new StopTimeoutError(`${unfinished()} did not end within ${limitMs / 1000} s of the stop signal`));
  let timer: Timer | undefined;
  const onAbort = (): void => {
    if (limitMs < Infinity) timer = clock.setTimer(limitMs, giveUp);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer?.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
