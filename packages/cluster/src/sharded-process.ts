import { type Clock, type Logger } from "@kubewright/clock";
import type { ShardStatus } from "@kubewright/sharding";

import type { ManagerProcess } from "./manager-process.js";
import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";
import type { ShardedIncarnation } from "./sharded-incarnation.js";

/** Component name of the requests for the member's Lease and the assignment. */
export const SHARDING = "sharding";

/** Pause before a manager that ended by itself restarts. */
const RESTART_MS = 1_000;

export interface ShardedProcessOptions {
  readonly machineClock: ProcessClock;
  readonly controllers: readonly string[];
  /** Creates an incarnation without any state of earlier ones. */
  readonly start: (incarnation: number) => ShardedIncarnation;
  /** Clock of the process supervisor, which continues while the machine is paused. */
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One of several sharded controller managers. Killing one of its controllers kills the whole process. */
export class ShardedProcess implements ManagerProcess {
  readonly #options: ShardedProcessOptions;
  readonly #killed = new Set<string>();
  #isShutDown = false;
  #incarnation = 0;
  #current: ShardedIncarnation | undefined;
  #stop: AbortController | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(
    readonly name: string,
    options: ShardedProcessOptions,
  ) {
    this.#options = options;
  }

  get clock(): ProcessClock {
    return this.#options.machineClock;
  }

  get leads(): boolean {
    return this.#current?.leads === true;
  }

  get believesToLead(): boolean {
    return this.leads;
  }

  /** The assignment as this manager sees it, while it runs. */
  get status(): ShardStatus | undefined {
    return this.#current?.status;
  }

  runs(sender: Pick<Sender, "component"> & Partial<Sender>): boolean {
    return this.#current?.runs(sender) === true;
  }

  has(controller: string): boolean {
    return this.#options.controllers.includes(controller);
  }

  setRunning(up: boolean, controller = ALL): void {
    if (!up) {
      this.#killed.add(controller);
      this.#current?.kill();
    } else if (controller === ALL) {
      this.#killed.clear();
      this.#isShutDown = false;
    } else this.#killed.delete(controller);
    this.#notifyChange();
  }

  /**
   * Shuts the manager down, as SIGTERM does: it finishes its work in flight and releases its buckets. {@link
   * setRunning} starts it again.
   */
  shutDown(): void {
    this.#isShutDown = true;
    this.#stop?.abort(new Error(`${this.name} receives SIGTERM`));
    this.#notifyChange();
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => {
      // A manager whose machine is paused could never release its buckets.
      if (this.clock.isPaused) this.#current?.kill();
      this.#stop?.abort(signal.reason);
      aborted.resolve();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      if (this.#killed.size > 0 || this.#isShutDown) {
        await Promise.race([this.#changed.promise, aborted.promise]);
        continue;
      }
      this.#stop = new AbortController();
      this.#current = this.#options.start(++this.#incarnation);
      const failed = await this.#current.run(this.#stop.signal).then(
        () => false,
        (error: unknown) => {
          this.#options.logger.debug({ err: (error as Error).message }, `${this.name} ended`);
          return true;
        },
      );
      this.#current.kill();
      this.#current = undefined;
      if (failed) await this.#options.clock.sleep(RESTART_MS, signal).catch(() => {});
    }
    signal.removeEventListener("abort", onAbort);
  }

  #notifyChange(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/** Stands for all controllers in place of a name. */
const ALL = "";
