import type { Client } from "@kubewright/client";
import { LeaderElector, type LeaderElectorOptions, type Runnable, runAll } from "@kubewright/controller";

import type { ControllerProcess } from "./controller-process.js";
import type { ManagerProcess } from "./manager-process.js";
import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";

/** Where a candidate's lease is, and how it gets there. */
export type Election = Pick<LeaderElectorOptions, "clock" | "random" | "logger"> & {
  /** @param alive - Nothing goes over it once this answers false. */
  readonly clientFor: (alive: () => boolean) => Client;
  /** How long the others wait before they take over. Default: 15 s; the other times are in proportion. */
  readonly leaseDurationMs?: number | undefined;
};

/** The pause before a controller manager that lost its lease, and therefore exited, is there again. */
const RESTART_MS = 1_000;

/**
 * One controller manager: its controllers run while it is up and, if there is an election, leads; each can be kept down
 * by itself.
 */
export class ControllerReplica implements ManagerProcess {
  readonly #processes: ReadonlyMap<string, ControllerProcess>;
  readonly #election: Election | undefined;
  readonly #down = new Set<string>();
  #elector: LeaderElector | undefined;
  #incarnation = 0;
  #leads: boolean;
  #up = true;
  #changed = Promise.withResolvers<void>();

  /** @param clock - Of the machine that it runs on: when that stands still, nothing of it goes on. */
  constructor(
    readonly name: string,
    processes: readonly ControllerProcess[],
    readonly clock: ProcessClock,
    election?: Election,
  ) {
    this.#processes = new Map(processes.map((process) => [process.name, process]));
    this.#election = election;
    this.#leads = election === undefined;
    this.#update();
  }

  /** Whether it may write now: what it had begun before it lost the lease must not go on. */
  get mayAct(): boolean {
    return this.#election === undefined || (this.#leads && this.#elector?.mayActAsLeader === true);
  }

  get leads(): boolean {
    return this.#leads && this.#up;
  }

  /** Whether it takes itself for the leader, or for the only one there is. */
  get believesToLead(): boolean {
    return this.leads && this.mayAct;
  }

  /** Whether a controller of it is up. */
  runs({ component }: Pick<Sender, "component">): boolean {
    return this.leads && this.has(component) && !this.#down.has(component);
  }

  has(controller: string): boolean {
    return this.#processes.has(controller);
  }

  /** Kills or starts one controller, or, without a name, all that is in the process. */
  setRunning(up: boolean, controller?: string): void {
    if (controller === undefined) {
      this.#up = up;
      if (up) this.#down.clear();
    } else if (up) this.#down.delete(controller);
    else this.#down.add(controller);
    this.#update();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  async run(signal: AbortSignal): Promise<void> {
    const runnables: Runnable[] = [...this.#processes.values()];
    if (this.#election !== undefined)
      runnables.push({ name: `${this.name} election`, run: (stop) => this.#elect(stop) });
    await runAll(runnables, signal);
  }

  #update(): void {
    for (const [name, process] of this.#processes) process.shouldRun = this.#up && this.#leads && !this.#down.has(name);
  }

  async #elect(signal: AbortSignal): Promise<void> {
    const { clock } = this.#election!;
    while (!signal.aborted) {
      const stop = new AbortController();
      const onAbort = (): void => stop.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      if (this.#up) {
        let isKilled = false;
        this.#elector = this.#newElector(() => !isKilled);
        // Who loses the lease exits, and is started again.
        const elected = this.#elector.run(stop.signal).catch(() => undefined);
        await Promise.race([elected, this.#waitUntilDown(signal)]);
        isKilled = !this.#up;
        this.#leads = false;
        this.#update();
        stop.abort();
        // Whose machine stands still when everything ends would never get to give its lease away.
        await Promise.race([elected, aborted(signal)]);
      } else await Promise.race([this.#changed.promise, aborted(signal)]);
      signal.removeEventListener("abort", onAbort);
      if (!signal.aborted && this.#up) await clock.sleep(RESTART_MS, signal).catch(() => undefined);
    }
  }

  async #waitUntilDown(signal: AbortSignal): Promise<void> {
    while (this.#up && !signal.aborted) await Promise.race([this.#changed.promise, aborted(signal)]);
  }

  #newElector(alive: () => boolean): LeaderElector {
    const { leaseDurationMs, clientFor, ...election } = this.#election!;
    return new LeaderElector({
      ...election,
      client: clientFor(alive),
      ...(leaseDurationMs === undefined ? {} : electionTimes(leaseDurationMs)),
      namespace: "kube-system",
      name: "kube-controller-manager",
      identity: `${this.name}_${++this.#incarnation}`,
      // As kubewright-controller-manager does: who exits by itself looks whether the lease is still its own to give away.
      releaseOnCancel: true,
      callbacks: {
        onStartedLeading: async (signal) => {
          this.#leads = true;
          this.#update();
          await aborted(signal);
        },
        // As upstream, the process exits at once: nobody waits for what it was doing.
        onStoppedLeading: () => {
          this.#leads = false;
          this.#update();
        },
      },
    });
  }
}

/** In the proportions of the defaults. */
function electionTimes(
  leaseDurationMs: number,
): Pick<LeaderElectorOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> {
  return {
    leaseDurationMs,
    renewDeadlineMs: Math.round((leaseDurationMs * 2) / 3),
    retryPeriodMs: Math.round((leaseDurationMs * 2) / 15),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
