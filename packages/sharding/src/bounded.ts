import type { Clock } from "@kubewright/clock";

/**
 * Calls `send` with a signal, and rejects after `limitMs`, or when one of the signals aborts, even if `send` never
 * settles. The signal passed to `send` aborts then, too.
 *
 * @param limitMs - May be Infinity.
 * @throws What `send` throws, the reason of the signal, or an Error that contains the limit.
 */
export async function bounded<T>(
  send: (signal: AbortSignal) => Promise<T>,
  {
    clock,
    limitMs,
    signals,
  }: { readonly clock: Clock; readonly limitMs: number; readonly signals: readonly AbortSignal[] },
): Promise<T> {
  for (const signal of signals) signal.throwIfAborted();
  const attempt = new AbortController();
  const cancelled = Promise.withResolvers<never>();
  const cancel = (reason: unknown): void => {
    attempt.abort(reason);
    cancelled.reject(reason);
  };
  const onAbort = (): void => cancel(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  const onTimeout = (): void => cancel(new Error(`no answer within ${limitMs} ms`));
  const timer = limitMs === Infinity ? undefined : clock.setTimer(limitMs, onTimeout, { background: true });
  try {
    return await Promise.race([send(attempt.signal), cancelled.promise]);
  } finally {
    timer?.cancel();
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}
