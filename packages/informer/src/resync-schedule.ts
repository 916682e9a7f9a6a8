const MIN_RESYNC_MS = 1000;

/** When one handler is shown the whole cache again. */
export interface ResyncEntry {
  /** What was asked for, at least a second; 0: never. */
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
  /** Whether updates without a change are for this handler. True until the first check. */
  syncing: boolean;
}

/**
 * Decides at each check which handlers are due. A handler's period is rounded up to a multiple of the check's.
 *
 * @see kubernetes v1.36 client-go tools/cache/shared_informer.go (determineResyncPeriod, shouldResync)
 */
export class ResyncSchedule {
  #checkMs: number;

  /** @param checkMs - Time between checks; 0: none, and no handler is ever resynced. */
  constructor(checkMs: number) {
    this.#checkMs = checkMs;
  }

  get checkMs(): number {
    return this.#checkMs;
  }

  /** A new handler. Before the start a shorter period than any so far makes the checks as frequent. */
  add(
    requestedMs: number,
    { nowMs, started, others }: { nowMs: number; started: boolean; others: Iterable<ResyncEntry> },
  ): ResyncEntry {
    const wantedMs = requestedMs > 0 ? Math.max(requestedMs, MIN_RESYNC_MS) : 0;
    if (!started && wantedMs > 0 && wantedMs < this.#checkMs) {
      this.#checkMs = wantedMs;
      for (const other of others) {
        other.periodMs = this.#periodFor(other.requestedMs);
        other.nextMs = nowMs + other.periodMs;
      }
    }
    const periodMs = this.#periodFor(wantedMs);
    return { requestedMs: wantedMs, periodMs, nextMs: nowMs + periodMs, syncing: true };
  }

  /** Marks the handlers that are due, and only those, as syncing. Answers whether there are any. */
  check(entries: Iterable<ResyncEntry>, nowMs: number): boolean {
    let anyDue = false;
    for (const entry of entries) {
      entry.syncing = entry.periodMs > 0 && nowMs >= entry.nextMs;
      if (!entry.syncing) continue;
      anyDue = true;
      entry.nextMs = nowMs + entry.periodMs;
    }
    return anyDue;
  }

  #periodFor(wantedMs: number): number {
    return wantedMs === 0 || this.#checkMs === 0 ? 0 : Math.max(wantedMs, this.#checkMs);
  }
}
