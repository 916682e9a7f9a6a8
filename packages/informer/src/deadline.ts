import type { Clock } from "@kubewright/clock";

/** A signal that aborts with its parent, after a time, or when closed; then it holds neither a timer nor a listener. */
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

  /** Aborts with `reason`, if it has not aborted before. */
  close(reason: unknown): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Forgets the parent and the time without aborting. */
  release(): void {
    this.#timer.cancel();
    this.#parent.removeEventListener("abort", this.#onAbort);
  }
}
