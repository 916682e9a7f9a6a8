import type { Client } from "@kubewright/client";
import { untilAborted } from "@kubewright/clock";
import { LeaderElector, type LeaderElectorOptions, type Runnable, runAll } from "@kubewright/controller";

import type { ControllerProcess } from "./controller-process.js";
import type { ManagerProcess } from "./manager-process.js";
import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";

/** Leader election of a candidate: its Lease and its client. */
export type Election = Pick<LeaderElectorOptions, "clock" | "random" | "logger" | "renewalDeferral"> & {
  /** @param alive - The client sends nothing once this returns false. */
  readonly clientFor: (alive: () => boolean) => Client;
  /** Lease duration. The other election times are in proportion to it. Default: 15 s. */
  readonly leaseDurationMs?: number | undefined;
};

/** Pause before a controller manager restarts after it lost its Lease and exited. */
const RESTART_MS = 1_000;

/**
 * One controller manager. Its controllers run while it is up and leads, if there is an election. Each controller can be
 * stopped individually.
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

  /** @param clock - Clock of the machine that the manager runs on. While it is paused, the manager is paused. */
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

  /** Whether the manager may write now. Work that began before it lost the Lease must not continue. */
  get mayAct(): boolean {
    return this.#election === undefined || (this.#leads && this.#elector?.mayActAsLeader === true);
  }

  get leads(): boolean {
    return this.#leads && this.#up;
  }

  /** Whether the manager believes that it leads, or that it is the only one. */
  get believesToLead(): boolean {
    return this.leads && this.mayAct;
  }

  /** Returns whether a controller of this manager is running. */
  runs({ component }: Pick<Sender, "component">): boolean {
    return this.leads && this.has(component) && !this.#down.has(component);
  }

  has(controller: string): boolean {
    return this.#processes.has(controller);
  }

  /** Kills or starts one controller, or without a name the whole process. */
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
        // A manager that loses the Lease exits, and is restarted.
        const elected = this.#elector.run(stop.signal).catch(() => undefined);
        await Promise.race([elected, this.#waitUntilDown(signal)]);
        isKilled = !this.#up;
        this.#leads = false;
        this.#update();
        stop.abort();
        // A manager whose machine is paused at the end of the run could never release its Lease.
        await Promise.race([elected, untilAborted(signal)]);
      } else await Promise.race([this.#changed.promise, untilAborted(signal)]);
      signal.removeEventListener("abort", onAbort);
      if (!signal.aborted && this.#up) await clock.sleep(RESTART_MS, signal).catch(() => undefined);
    }
  }

  async #waitUntilDown(signal: AbortSignal): Promise<void> {
    while (this.#up && !signal.aborted) await Promise.race([this.#changed.promise, untilAborted(signal)]);
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
      // As in kubewright-controller-manager: a manager that exits releases the Lease only if it still holds it.
      releaseOnCancel: true,
      callbacks: {
        onStartedLeading: async (signal) => {
          this.#leads = true;
          this.#update();
          await untilAborted(signal);
        },
        // As upstream, the process exits immediately, without waiting for work in flight.
        onStoppedLeading: () => {
          this.#leads = false;
          this.#update();
        },
      },
    });
  }
}

/** Returns the election times in the proportions of the defaults. */
function electionTimes(
  leaseDurationMs: number,
): Pick<LeaderElectorOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> {
  return {
    leaseDurationMs,
    renewDeadlineMs: Math.round((leaseDurationMs * 2) / 3),
    retryPeriodMs: Math.round((leaseDurationMs * 2) / 15),
  };
}
