import type { ChangeLog } from "./change-log.js";

/** Byte limit for all change logs of a server. Above it, the largest log forgets its oldest changes. */
export class HistoryBudget {
  readonly #maxBytes: number;
  readonly #logs = new Set<ChangeLog>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  join(log: ChangeLog): void {
    this.#logs.add(log);
  }

  leave(log: ChangeLog): void {
    this.#logs.delete(log);
    this.#bytes -= log.bytes;
  }

  reserve(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#shrink();
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** Frees a little more than needed, so that not every write searches for the largest log. */
  #shrink(): void {
    const enough = this.#maxBytes - this.#maxBytes / 16;
    while (this.#bytes > enough) {
      let largest: ChangeLog | undefined;
      for (const log of this.#logs) if (log.bytes > (largest?.bytes ?? 0)) largest = log;
      if (largest === undefined) return;
      largest.forgetBytes(this.#bytes - enough);
    }
  }
}
