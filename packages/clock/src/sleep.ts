import type { Clock, TimerOptions } from "./clock.js";

/** Implements `sleep` with `setTimer`, for every clock. Leaves neither a timer nor a listener behind. */
export function sleepOn(
  clock: Pick<Clock, "setTimer">,
  delayMs: number,
  signal?: AbortSignal,
  options?: TimerOptions,
): Promise<void> {
  if (signal === undefined) return new Promise((resolve) => void clock.setTimer(delayMs, resolve, options));
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason as Error);
    };
    const timer = clock.setTimer(
      delayMs,
      () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      },
      options,
    );
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
