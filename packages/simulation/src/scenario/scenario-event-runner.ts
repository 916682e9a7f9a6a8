import { type Client, errorMessage, isConnectionRefused } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { FaultyCluster } from "@kubewright/cluster";

import { type ScenarioEventKind, definitionOf } from "../faults/registry.js";
import type { ScenarioEvent } from "./scenario-event.js";

export interface ScenarioEventRunnerOptions {
  readonly cluster: FaultyCluster;
  readonly clock: Clock;
  /** Start of the scenario. Default: now. */
  readonly startMs?: number;
  readonly onNote: (note: ScenarioEventNote) => void;
  /** Called when an event begins, and when an event with a duration ends. */
  readonly onPhase?: (index: number, kind: ScenarioEventKind, phase: "begin" | "end") => void;
  /** Called when an event fails, with its location in the file. */
  readonly onProblem: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Description of a scenario event for people. */
export interface ScenarioEventNote {
  readonly at: string;
  /** End of an event with a duration. */
  readonly until?: string;
  /** Its name in the scenario file, e.g. `controllerDown`. */
  readonly kind: string;
  /** One line for people. */
  readonly message: string;
  readonly involved?: { readonly kind: string; readonly namespace: string; readonly name: string };
}

/** Delay between two tries to end a user action. */
const RETRY_MS = 1_000;

/**
 * Runs the events of a scenario, each at its time. Events of the same time run in the order of the file; user actions
 * of the same time run one after the other, because an action may name an owner that the previous one created.
 */
export class ScenarioEventRunner {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #onNote: (note: ScenarioEventNote) => void;
  readonly #onPhase: NonNullable<ScenarioEventRunnerOptions["onPhase"]>;
  readonly #onProblem: (message: string) => void;
  readonly #signal: AbortSignal;
  readonly #cluster: FaultyCluster;
  readonly #user: Client;

  constructor({ cluster, clock, startMs, onNote, onPhase, onProblem, signal }: ScenarioEventRunnerOptions) {
    this.#clock = clock;
    this.#startMs = startMs ?? clock.now();
    this.#onNote = onNote;
    this.#onPhase = onPhase ?? (() => {});
    this.#onProblem = onProblem;
    this.#signal = signal;
    this.#cluster = cluster;
    this.#user = cluster.faults.client("user");
  }

  /**
   * Begins the events that concern the very first requests. Call it at the start, before Jobs and Pods exist, and
   * {@link schedule} afterwards.
   */
  begin(events: readonly ScenarioEvent[]): void {
    for (const [index, scenarioEvent] of events.entries())
      if (this.#precedes(scenarioEvent)) void this.#start(scenarioEvent, index);
  }

  /** Schedules all events except those that {@link begin} has begun. */
  schedule(events: readonly ScenarioEvent[]): void {
    const byTime = new Map<number, [number, ScenarioEvent][]>();
    for (const [index, scenarioEvent] of events.entries()) {
      if (this.#precedes(scenarioEvent)) continue;
      const { atMs } = scenarioEvent;
      const those = byTime.get(atMs);
      if (those === undefined) byTime.set(atMs, [[index, scenarioEvent]]);
      else those.push([index, scenarioEvent]);
    }
    for (const [atMs, those] of byTime) this.#clock.setTimer(atMs - this.#clock.now(), () => this.#startInOrder(those));
  }

  #startInOrder(events: readonly (readonly [number, ScenarioEvent])[]): void {
    let acting: Promise<void> | undefined;
    for (const [index, scenarioEvent] of events) {
      const start = (): Promise<void> => this.#start(scenarioEvent, index);
      if (definitionOf(scenarioEvent.kind).isUserAction !== true) void start();
      else acting = acting === undefined ? start() : acting.then(start);
    }
  }

  #precedes({ kind, atMs }: ScenarioEvent): boolean {
    return atMs <= this.#startMs && definitionOf(kind).precedesRequests === true;
  }

  async #start(scenarioEvent: ScenarioEvent, index: number): Promise<void> {
    if (this.#signal.aborted) return;
    const { kind, value, objects, untilMs, overMs } = scenarioEvent;
    this.#onPhase(index, kind, "begin");
    const run = { cluster: this.#cluster, user: this.#user, objects, signal: this.#signal };
    const action = definitionOf(kind).action(value, run);
    this.#onNote({
      at: iso(this.#clock.now()),
      ...(overMs === undefined ? {} : { until: iso(overMs) }),
      kind,
      message: action.message,
      ...(action.involved === undefined ? {} : { involved: action.involved }),
    });
    if (untilMs !== undefined && action.end !== undefined) {
      const { end } = action;
      this.#clock.setTimer(untilMs - this.#clock.now(), () => void this.#end(scenarioEvent, index, end));
    }
    if (action.begin !== undefined) await this.#attempt(scenarioEvent, action.begin);
  }

  async #end(scenarioEvent: ScenarioEvent, index: number, end: () => Promise<unknown> | void): Promise<void> {
    await this.#attempt(scenarioEvent, () => this.#retryUntilReachable(end));
    if (!this.#signal.aborted) this.#onPhase(index, scenarioEvent.kind, "end");
  }

  /** Ends an event with a duration; retries while the API server cannot be reached. */
  async #retryUntilReachable(end: () => Promise<unknown> | void): Promise<void> {
    for (;;) {
      try {
        await end();
        return;
      } catch (error) {
        if (!isConnectionRefused(error)) throw error;
        await this.#clock.sleep(RETRY_MS, this.#signal);
      }
    }
  }

  /** A user action may be refused; the run continues. */
  async #attempt({ kind, place }: ScenarioEvent, action: () => Promise<unknown> | void): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await action();
    } catch (error) {
      if (this.#signal.aborted) return;
      const message = `${kind} failed: ${errorMessage(error)}`;
      this.#onNote({ at: iso(this.#clock.now()), kind, message });
      this.#onProblem(`${place}: ${message}`);
    }
  }
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
