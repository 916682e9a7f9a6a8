import { isConflict } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";

export interface Backoff {
  /** Calls in all, the first included. */
  readonly attempts: number;
  /** The first pause. */
  readonly baseMs: number;
  /** What each pause is multiplied by to give the next. */
  readonly factor: number;
  /** Each pause is drawn out by up to this part of itself. */
  readonly jitter: number;
}

/** For an object that somebody else writes now and then. */
export const defaultRetry: Backoff = { attempts: 5, baseMs: 10, factor: 1, jitter: 0.1 };
/** For an object that many write. */
export const defaultBackoff: Backoff = { attempts: 4, baseMs: 10, factor: 5, jitter: 0.1 };

/**
 * Calls `fn`, which must read the object anew each time, until it no longer fails with reason `Conflict`.
 *
 * @throws Whatever `fn` throws that is not a conflict, the last conflict, or the signal's reason while pausing.
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
