import type { Clock } from "@kubewright/clock";

/**
 * Calls `send`, and gives up on it after `limitMs`, even if it never answers. The signal it is handed aborts then.
 *
 * @throws What `send` throws, the signal's reason, or an Error that names the limit.
 */
export async function bounded<T>(
  send: (signal: AbortSignal) => Promise<T>,
  {
    clock,
    limitMs,
    signal,
  }: { readonly clock: Clock; readonly limitMs: number; readonly signal?: AbortSignal | undefined },
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
  const late = (): void => giveUp(new Error(`no answer within ${limitMs} ms`));
  const timer = clock.setTimer(limitMs, late, { background: true });
  try {
    return await Promise.race([send(attempt.signal), gaveUp.promise]);
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}
