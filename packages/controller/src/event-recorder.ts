import {
  type DeepReadonly,
  type Event,
  type KubernetesObject,
  type ResourceDefinition,
  events,
  formatTime,
} from "@kubewright/api";
import { type Client, type Writer, isNotFound } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";

import { EventCorrelator, type EventCorrelatorOptions } from "./event-correlator.js";
import { EventNames } from "./event-names.js";
import type { EventSink, EventType } from "./event-sink.js";
import { EventWriter, type PendingEvent } from "./event-writer.js";
import { objectReference } from "./object-reference.js";
import type { Runnable } from "./runnable.js";

export interface EventRecorderOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly random: Random;
  /** Reporting component, for example `job-controller`. */
  readonly component: string;
  /** Reporting host. Default: not set. */
  readonly host?: string | undefined;
  /** Logs every event that is not written. Default: standard error. */
  readonly logger?: Logger;
  /**
   * Milliseconds that `run` continues to write after its signal has aborted. Then `run` abandons a pending write and
   * drops the queued events. Default 5,000.
   */
  readonly stopTimeoutMs?: number;
  /**
   * Level at which every event is also logged. Upstream logs its own events at `info` and those of controllers at
   * `debug`. Default `debug`.
   */
  readonly eventLogLevel?: "debug" | "info" | undefined;
  readonly correlator?: Omit<EventCorrelatorOptions, "clock">;
}

const RETRY_PAUSE_MS = 10_000;

/**
 * Records core/v1 Events about objects. It writes them in order and in the background, correlated by an {@link
 * EventCorrelator}.
 *
 * `event` only appends to a queue of at most 1000 events. The events wait until `run` writes them one at a time. An
 * event that the API server rejects is dropped. An event that cannot be sent is attempted 12 times, 10 s apart, and
 * blocks the events behind it.
 *
 * When the signal aborts, `run` attempts each queued event once, for at most 5 s in total, then resolves. Stop the
 * recorder after the components that record events (see `runInStages`). An idle recorder has no timer, but keeps the
 * process alive.
 *
 * Upstream: client-go tools/record/event.go.
 */
export class EventRecorder implements EventSink, Runnable {
  readonly name: string;
  readonly #events: Writer<Event>;
  readonly #clock: Clock;
  readonly #source: { readonly component: string; readonly host?: string };
  readonly #names: EventNames;
  readonly #correlator: EventCorrelator;
  readonly #writer: EventWriter<Event>;

  constructor({ client, clock, random, component, host, correlator, ...options }: EventRecorderOptions) {
    const ownRandom = random.fork(`events of ${component}`);
    this.#events = client.resource(events);
    this.#clock = clock;
    this.#source = host === undefined ? { component } : { component, host };
    this.#names = new EventNames({ clock, random: ownRandom });
    this.#correlator = new EventCorrelator({ ...correlator, clock });
    this.#writer = new EventWriter({
      ...options,
      component,
      clock,
      prepare: (recorded) => this.#prepare(recorded),
      pauseMs: (attempt) => (attempt === 1 ? ownRandom.next() * RETRY_PAUSE_MS : RETRY_PAUSE_MS),
    });
    this.name = this.#writer.name;
  }

  event(
    object: DeepReadonly<KubernetesObject>,
    definition: ResourceDefinition,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    if (!this.#writer.admits(object, definition, type, reason, message)) return;
    const { name = "", namespace } = object.metadata;
    const now = formatTime(this.#clock.now());
    this.#writer.add({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: this.#names.next(name), namespace: namespace || "default" },
      involvedObject: objectReference(object, definition),
      reason,
      message,
      source: this.#source,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      reportingComponent: this.#source.component,
      reportingInstance: this.#source.host ?? "",
    });
  }

  /** Resolves when all recorded events, including those added meanwhile, are written or dropped. Requires `run`. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** @throws Error when called a second time. */
  run(signal: AbortSignal): Promise<void> {
    return this.#writer.run(signal);
  }

  #prepare(recorded: Event): PendingEvent | undefined {
    const { event, action, combined } = this.#correlator.correlate(recorded, () =>
      this.#names.next(recorded.involvedObject.name ?? ""),
    );
    if (action === "discard") return undefined;
    const send = async (signal: AbortSignal): Promise<void> => {
      const stored = await this.#send(event, action, signal);
      if (!combined) this.#correlator.updateState(event, stored);
    };
    return { metadata: event.metadata, send };
  }

  #send(event: Event, action: "create" | "patch", signal: AbortSignal): Promise<DeepReadonly<Event>> {
    const { name = "", namespace } = event.metadata;
    if (action === "create") return this.#events.create(event, { namespace, signal });
    const body = { count: event.count, lastTimestamp: event.lastTimestamp, message: event.message };
    return this.#events.patch(name, { type: "strategic", body }, { namespace, signal }).catch((error: unknown) => {
      // The Event has expired or was deleted: it is created again with its current count.
      if (!isNotFound(error)) throw error;
      return this.#events.create(event, { namespace, signal });
    });
  }
}
