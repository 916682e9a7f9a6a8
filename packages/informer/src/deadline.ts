import type { Clock } from "@kubewright/clock";

/**
 * A signal that aborts with its parent, after a time-out, or when closed. After that it has neither a timer nor a
 * listener.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #onAbort = (): void => this.close(this.#parent.reason);
  readonly #timer: { cancel(): void };

  constructor(clock: Clock, parent: AbortSignal, timeoutMs: number) {
    this.#parent = parent;
    const expire = (): void => this.close(new Error(`no answer within ${Math.round(timeoutMs / 1000)} s`));
    this.#timer = clock.setTimer(timeoutMs, expire, { background: true });
    if (parent.aborted) this.#onAbort();
    else parent.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts with `reason`, unless it has aborted before. */
  close(reason: unknown): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Removes the timer and the listener without aborting. */
  release(): void {
    this.#timer.cancel();
    this.#parent.removeEventListener("abort", this.#onAbort);
  }
}
