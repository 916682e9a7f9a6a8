import type { Clock } from "@kubewright/clock";

/**
 * Calls `send` and stops waiting after `limitMs` or when the signal aborts, even if `send` never settles. The signal
 * passed to `send` aborts then.
 *
 * @throws The error of `send`, the signal's reason, or an Error that names the limit.
 */
export async function withTimeout<T>(
  send: (signal: AbortSignal) => Promise<T>,
  { clock, limitMs, signal }: { clock: Clock; limitMs: number; signal?: AbortSignal },
): Promise<T> {
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const gaveUp = Promise.withResolvers<never>();
  const giveUp = (reason: unknown): void => {
    attempt.abort(reason);
    gaveUp.reject(reason);
  };
  const onAbort = (): void => giveUp(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = clock.setTimer(limitMs, () => giveUp(new Error(`no answer within ${limitMs} ms`)), {
    background: true,
  });
  try {
    return await Promise.race([send(attempt.signal), gaveUp.promise]);
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}
