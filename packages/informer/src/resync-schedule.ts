const MIN_RESYNC_MS = 1000;

/** The resync schedule of one handler. */
export interface ResyncEntry {
  /** The requested period, at least a second; 0: never. */
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
  /** Whether the handler receives updates without a change. True until the first check. */
  syncing: boolean;
}

/**
 * Decides at each check which handlers are due. The period of a handler is effectively rounded up to a multiple of the
 * check period.
 *
 * @see kubernetes v1.36 client-go tools/cache/shared_informer.go (determineResyncPeriod, shouldResync)
 */
export class ResyncSchedule {
  #checkMs: number;

  /** @param checkMs - Time between checks; 0: no checks, and no handler is ever resynced. */
  constructor(checkMs: number) {
    this.#checkMs = checkMs;
  }

  get checkMs(): number {
    return this.#checkMs;
  }

  /** Adds a handler. Before the start, a period shorter than the check period replaces it. */
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

  /** Sets `syncing` for the handlers that are due, and only for those. Returns whether there are any. */
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
