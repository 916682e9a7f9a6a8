/** A one-time gate with any number of waiters. */
export class Latch {
  readonly #waiters = new Set<{ resolve(): void; reject(error: Error): void }>();
  #outcome: "closed" | "open" | Error = "closed";

  get isOpen(): boolean {
    return this.#outcome === "open";
  }

  /** Resolves when the latch opens. Rejects when it has failed, or with the signal's reason when that aborts first. */
  wait(signal?: AbortSignal): Promise<void> {
    if (this.#outcome === "open") return Promise.resolve();
    if (this.#outcome instanceof Error) return Promise.reject(this.#outcome);
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal!.reason as Error);
      };
      const waiter = {
        resolve: () => {
          stopWaiting();
          resolve();
        },
        reject: (error: Error) => {
          stopWaiting();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  open(): void {
    if (this.#outcome !== "closed") return;
    this.#outcome = "open";
    for (const waiter of this.#waiters) waiter.resolve();
  }

  /** Rejects all current and future waiters: the latch will never open. */
  fail(error: Error): void {
    if (this.#outcome !== "closed") return;
    this.#outcome = error;
    for (const waiter of this.#waiters) waiter.reject(error);
  }
}
