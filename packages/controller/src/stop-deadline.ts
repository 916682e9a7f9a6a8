import type { Clock, Timer } from "@kubewright/clock";

/** Default milliseconds that work may take to end after a stop: controller-runtime's grace period. */
export const STOP_TIMEOUT_MS = 30_000;

/** Work did not end in time after a stop. It was abandoned and may still be running. */
export class StopTimeoutError extends Error {
  override readonly name = "StopTimeoutError";
}

export interface StopDeadline {
  readonly clock: Clock;
  /** Its abort stops the work. */
  readonly signal: AbortSignal;
  /** Milliseconds that the work may take after the abort; may be infinite. */
  readonly limitMs: number;
  /** Describes the unfinished work for the error. */
  readonly unfinished: () => string;
}

/**
 * Waits for work to end, but only for a limited time after its signal has aborted.
 *
 * @throws The error of the work; {@link StopTimeoutError} when it is late. An error that late work throws afterwards is
 * ignored.
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
