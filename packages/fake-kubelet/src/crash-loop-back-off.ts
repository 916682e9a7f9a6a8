/** The wait before a container is started again. */
export interface BackOff {
  readonly delayMs: number;
  /** When it was last lengthened. */
  readonly sinceMs: number;
}

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * How long after its exit a container is started again: at once the first time, then after 10 s, doubling up to 5 min.
 * After ten minutes without a restart it begins again.
 *
 * @see kubernetes v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff; client-go util/flowcontrol/backoff.go
 */
export function restartDelayMs(backOff: BackOff | undefined, exitedAtMs: number): number {
  return backOff === undefined || isExpired(backOff, exitedAtMs) ? 0 : backOff.delayMs;
}

/** The back-off that holds from a restart on. */
export function lengthen(backOff: BackOff | undefined, exitedAtMs: number, restartedAtMs: number): BackOff {
  const fresh = backOff === undefined || isExpired(backOff, exitedAtMs);
  return { delayMs: fresh ? FIRST_MS : Math.min(backOff.delayMs * 2, LONGEST_MS), sinceMs: restartedAtMs };
}

function isExpired({ sinceMs }: BackOff, atMs: number): boolean {
  return atMs - sinceMs > 2 * LONGEST_MS;
}
