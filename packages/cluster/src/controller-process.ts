import { type Runnable, runAll } from "@kubewright/controller";

/** Until a process that failed by itself is there again. */
const RESTART_MS = 1_000;

export interface ControllerProcessOptions {
  /** Makes it anew, with nothing remembered. */
  readonly start: () => StartedProcess;
  /** Told of what it fails with by itself; it is then started again. Default: whoever runs it is told, and it stays down. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  readonly sleep: (durationMs: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Something that runs while it is wanted, each time made anew, with nothing remembered: like a process that is killed
 * and started.
 */
export class ControllerProcess implements Runnable {
  readonly #options: ControllerProcessOptions;
  #shouldRun = false;
  #changed = Promise.withResolvers<void>();
  #current: StartedProcess | undefined;
  #stop: AbortController | undefined;
  #killed = Promise.withResolvers<void>();

  constructor(
    readonly name: string,
    options: ControllerProcessOptions,
  ) {
    this.#options = options;
  }

  /** Starts it, or kills it, soon. */
  set shouldRun(shouldRun: boolean) {
    if (this.#shouldRun === shouldRun) return;
    this.#shouldRun = shouldRun;
    if (!shouldRun && this.#current !== undefined) {
      this.#current.kill();
      this.#stop?.abort(new Error(`${this.name} was killed`));
      this.#killed.resolve();
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
      if (!this.#shouldRun) {
        await Promise.race([this.#changed.promise, aborted.promise]);
        continue;
      }
      this.#stop = new AbortController();
      this.#killed = Promise.withResolvers();
      this.#current = this.#options.start();
      const failed = await this.#waitForEnd(runAll(this.#current.runnables, this.#stop.signal));
      this.#current = undefined;
      if (failed) await this.#options.sleep(RESTART_MS, signal).catch(() => {});
      // Whoever ends by itself is not started again before it is wanted anew.
      else if (!this.#stop.signal.aborted) await Promise.race([this.#changed.promise, aborted.promise]);
    }
    signal.removeEventListener("abort", onAbort);
  }

  /** Waits for the end of what runs; what was killed has ended, whatever it does yet. Answers whether it failed by itself. */
  async #waitForEnd(running: Promise<void>): Promise<boolean> {
    running.catch(() => {});
    const { onFailure } = this.#options;
    const { signal } = this.#stop!;
    try {
      await Promise.race([running, this.#killed.promise]);
      return false;
    } catch (error) {
      if (onFailure === undefined) throw error;
      this.#current?.kill();
      if (!signal.aborted) onFailure(error);
      return !signal.aborted;
    }
  }
}

export interface StartedProcess {
  readonly runnables: readonly Runnable[];
  /** Makes sure that nothing it still does has any effect. */
  readonly kill: () => void;
}
