import { type Clock, type Logger } from "@kubewright/clock";
import type { ShardStatus } from "@kubewright/sharding";

import type { ManagerProcess } from "./manager-process.js";
import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";
import type { ShardedIncarnation } from "./sharded-incarnation.js";

/** What the Lease of one and the assignment are read and written by. */
export const SHARDING = "sharding";

/** The pause before a manager that ended by itself is there again. */
const RESTART_MS = 1_000;

export interface ShardedManagerOptions {
  readonly machineClock: ProcessClock;
  readonly controllers: readonly string[];
  /** Makes it anew, with nothing remembered. */
  readonly start: (incarnation: number) => ShardedIncarnation;
  /** Of those who start it again: it goes on when the machine stands still. */
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * One of several controller managers that share work. Its controllers live and die with it: who kills one of them kills them all.
 */
export class ShardedManager implements ManagerProcess {
  readonly #options: ShardedManagerOptions;
  readonly #killed = new Set<string>();
  #isShutDown = false;
  #incarnation = 0;
  #current: ShardedIncarnation | undefined;
  #stop: AbortController | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(
    readonly name: string,
    options: ShardedManagerOptions,
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

  /** What it knows of who has what, while it is up. */
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

  /** Tells it to end, as SIGTERM does: it finishes what it has begun and gives its buckets up. {@link setRunning} starts it again. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#stop?.abort(new Error(`${this.name} receives SIGTERM`));
    this.#notifyChange();
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => {
      // Whose machine stands still would never get to give anything up.
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

/** Instead of the name of a controller. */
const ALL = "";
