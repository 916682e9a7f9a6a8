import { type Runnable, runAll } from "@kubewright/controller";

/**
 * Something that runs while it is wanted, each time made anew, with nothing remembered: like a process that is killed
 * and started.
 */
export class ControllerProcess implements Runnable {
  readonly #start: () => StartedProcess;
  #wanted = false;
  #changed = Promise.withResolvers<void>();
  #current: StartedProcess | undefined;
  #stop: AbortController | undefined;

  constructor(
    readonly name: string,
    start: () => StartedProcess,
  ) {
    this.#start = start;
  }

  /** Starts it, or kills it, soon. */
  set wanted(wanted: boolean) {
    if (this.#wanted === wanted) return;
    this.#wanted = wanted;
    if (!wanted && this.#current !== undefined) {
      this.#current.kill();
      this.#stop?.abort(new Error(`${this.name} was killed`));
    }
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#stop?.abort(signal.reason);
      aborted.resolve();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      if (!this.#wanted) {
        await Promise.race([this.#changed.promise, aborted.promise]);
        continue;
      }
      this.#stop = new AbortController();
      this.#current = this.#start();
      await runAll(this.#current.parts, this.#stop.signal);
      this.#current = undefined;
      // Whoever ends by itself is not started again before it is wanted anew.
      if (!this.#stop.signal.aborted) await Promise.race([this.#changed.promise, aborted.promise]);
    }
    signal.removeEventListener("abort", onAbort);
  }
}

export interface StartedProcess {
  readonly parts: readonly Runnable[];
  /** Makes sure that nothing it still does has any effect. */
  readonly kill: () => void;
}
