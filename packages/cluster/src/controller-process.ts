import { type Runnable, runAll } from "@kubewright/controller";

/** Pause before a process that failed is restarted. */
const RESTART_MS = 1_000;

export interface ControllerProcessOptions {
  /** Creates the process without any state of earlier ones. */
  readonly start: () => StartedProcess;
  /**
   * Called with the error that the process fails with. The process is then restarted. Default: {@link
   * ControllerProcess.run} rejects with the error, and the process stays down.
   */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  readonly sleep: (durationMs: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs a process while it should run. Each start creates a new one without earlier state, like a killed and restarted
 * process.
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

  /** Starts or kills the process asynchronously. */
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
      // A process that ends without an error is restarted only after it was stopped and enabled again.
      else if (!this.#stop.signal.aborted) await Promise.race([this.#changed.promise, aborted.promise]);
    }
    signal.removeEventListener("abort", onAbort);
  }

  /**
   * Waits for the end of the running process, or for its kill: a killed process has ended even if its code still runs.
   * Returns whether the process failed.
   */
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
  /** Prevents any further effect of the process. */
  readonly kill: () => void;
}
