import { isConflict } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";

export interface Backoff {
  /** Maximum number of calls, including the first. */
  readonly attempts: number;
  /** First pause in milliseconds. */
  readonly baseMs: number;
  /** Multiplies each pause to obtain the next. */
  readonly factor: number;
  /** Extends each pause by a random part of up to this factor. */
  readonly jitter: number;
}

/** For an object that another client writes occasionally. */
export const defaultRetry: Backoff = { attempts: 5, baseMs: 10, factor: 1, jitter: 0.1 };
/** For an object that many clients write. */
export const defaultBackoff: Backoff = { attempts: 4, baseMs: 10, factor: 5, jitter: 0.1 };

/**
 * Calls `fn` until it no longer fails with reason `Conflict`. `fn` must read the object again in each call.
 *
 * @throws Any error of `fn` that is not a conflict, the last conflict, or the signal's reason during a pause.
 * @see client-go util/retry RetryOnConflict
 */
export async function retryOnConflict<T>(
  fn: () => Promise<T>,
  {
    clock,
    random,
    backoff = defaultRetry,
    signal,
  }: { clock: Clock; random: Random; backoff?: Backoff; signal?: AbortSignal },
): Promise<T> {
  let pauseMs = backoff.baseMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await fn();
    } catch (error) {
      if (!isConflict(error) || attempt >= backoff.attempts) throw error;
    }
    await clock.sleep(pauseMs * (1 + random.next() * backoff.jitter), signal);
    pauseMs *= backoff.factor;
  }
}
