/** The delay before the next restart of a container. */
export interface BackOff {
  readonly delayMs: number;
  /** When the delay was last increased. */
  readonly sinceMs: number;
}

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * Returns the delay between the exit and the restart of a container: 0 the first time, then 10 s, doubled up to 5 min.
 * After ten minutes without a restart it is reset.
 *
 * @see kubernetes v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff; client-go util/flowcontrol/backoff.go
 */
export function restartDelayMs(backOff: BackOff | undefined, exitedAtMs: number): number {
  return backOff === undefined || isExpired(backOff, exitedAtMs) ? 0 : backOff.delayMs;
}

/** Returns the back-off after a restart. */
export function lengthen(backOff: BackOff | undefined, exitedAtMs: number, restartedAtMs: number): BackOff {
  const fresh = backOff === undefined || isExpired(backOff, exitedAtMs);
  return { delayMs: fresh ? FIRST_MS : Math.min(backOff.delayMs * 2, LONGEST_MS), sinceMs: restartedAtMs };
}

function isExpired({ sinceMs }: BackOff, atMs: number): boolean {
  return atMs - sinceMs > 2 * LONGEST_MS;
}
