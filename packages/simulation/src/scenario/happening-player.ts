import { errorMessage, isConnectionRefused } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { FaultyCluster } from "@kubewright/cluster";

import { FaultActs } from "./fault-acts.js";
import type { Happening } from "./happening.js";
import type { HappeningKind } from "./scenario-file.js";
import { UserActs, isOfUser } from "./user-acts.js";

export interface HappeningPlayerOptions {
  readonly cluster: FaultyCluster;
  readonly clock: Clock;
  readonly tell: (told: HappeningNote) => void;
  /** Told when each begins, and when what lasts is over. */
  readonly onPhase?: (index: number, kind: string, phase: "begin" | "end") => void;
  /** Told of what could not be done, with its place in the file. */
  readonly onProblem: (message: string) => void;
  readonly signal: AbortSignal;
}

/** What is told of a happening. */
export interface HappeningNote {
  readonly at: string;
  /** When it is over, for what lasts. */
  readonly until?: string;
  /** Its name in the scenario file, e.g. `controllerDown`. */
  readonly kind: string;
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
}

/** Those that may be about the very first requests. */
const FIRST: ReadonlySet<HappeningKind> = new Set<HappeningKind>([
  "clockSkew",
  "controllerCrashes",
  "paused",
  "requestFails",
  "staleCache",
  "staleList",
  "watchSilent",
]);

/** Between two tries to end what a user has begun. */
const UNREACHED_MS = 1_000;

/**
 * Makes the happenings of a scenario happen, each at its time; those of one time in the order of the file, and what users do then
 * one after the other: who names an owner that was made before has to find it.
 */
export class HappeningPlayer {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #tell: (told: HappeningNote) => void;
  readonly #onPhase: NonNullable<HappeningPlayerOptions["onPhase"]>;
  readonly #onProblem: (message: string) => void;
  readonly #signal: AbortSignal;
  readonly #users: UserActs;
  readonly #faults: FaultActs;

  constructor({ cluster, clock, tell, onPhase, onProblem, signal }: HappeningPlayerOptions) {
    this.#clock = clock;
    this.#startMs = clock.now();
    this.#tell = tell;
    this.#onPhase = onPhase ?? (() => {});
    this.#onProblem = onProblem;
    this.#signal = signal;
    this.#users = new UserActs(cluster);
    this.#faults = new FaultActs(cluster, signal);
  }

  /** Begins what concerns the very first requests. Call it before there is any object, and {@link schedule} when there are. */
  begin(happenings: readonly Happening[]): void {
    for (const [index, happening] of happenings.entries())
      if (this.#precedes(happening)) void this.#start(happening, index);
  }

  /** All but what {@link begin} has begun. */
  schedule(happenings: readonly Happening[]): void {
    const byTime = new Map<number, [number, Happening][]>();
    for (const [index, happening] of happenings.entries()) {
      if (this.#precedes(happening)) continue;
      const { atMs } = happening;
      const those = byTime.get(atMs);
      if (those === undefined) byTime.set(atMs, [[index, happening]]);
      else those.push([index, happening]);
    }
    for (const [atMs, those] of byTime) this.#clock.setTimer(atMs - this.#clock.now(), () => this.#startInOrder(those));
  }

  #startInOrder(happenings: readonly (readonly [number, Happening])[]): void {
    let acting: Promise<void> | undefined;
    for (const [index, happening] of happenings) {
      const start = (): Promise<void> => this.#start(happening, index);
      if (!isOfUser(happening)) void start();
      else acting = acting === undefined ? start() : acting.then(start);
    }
  }

  #precedes({ kind, atMs }: Happening): boolean {
    return atMs <= this.#startMs && FIRST.has(kind);
  }

  async #start(happening: Happening, index: number): Promise<void> {
    if (this.#signal.aborted) return;
    const { kind, untilMs, overMs } = happening;
    this.#onPhase(index, kind, "begin");
    const act = isOfUser(happening) ? this.#users.act(happening) : this.#faults.act(happening);
    this.#tell({
      at: iso(this.#clock.now()),
      ...(overMs === undefined ? {} : { until: iso(overMs) }),
      kind,
      message: act.message,
      ...(act.involved === undefined ? {} : { involved: act.involved }),
    });
    if (untilMs !== undefined && act.end !== undefined) {
      const { end } = act;
      this.#clock.setTimer(untilMs - this.#clock.now(), () => void this.#end(happening, index, end));
    }
    if (act.begin !== undefined) await this.#attempt(happening, act.begin);
  }

  async #end(happening: Happening, index: number, end: () => Promise<unknown> | void): Promise<void> {
    await this.#attempt(happening, () => this.#whenReached(end));
    if (!this.#signal.aborted) this.#onPhase(index, happening.kind, "end");
  }

  /** What was to last for a while is over: who cannot reach the API server to say so tries again until it is back. */
  async #whenReached(end: () => Promise<unknown> | void): Promise<void> {
    for (;;) {
      try {
        await end();
        return;
      } catch (error) {
        if (!isConnectionRefused(error)) throw error;
        await this.#clock.sleep(UNREACHED_MS, this.#signal);
      }
    }
  }

  /** What a user does may be refused; everything else goes on. */
  async #attempt({ kind, place }: Happening, action: () => Promise<unknown> | void): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await action();
    } catch (error) {
      if (this.#signal.aborted) return;
      const message = `${kind} failed: ${errorMessage(error)}`;
      this.#tell({ at: iso(this.#clock.now()), kind, message });
      this.#onProblem(`${place}: ${message}`);
    }
  }
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
