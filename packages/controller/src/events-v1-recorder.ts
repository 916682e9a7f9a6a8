import {
  type DeepReadonly,
  type EventsV1,
  type KubernetesObject,
  type ResourceDefinition,
  eventsV1,
  formatMicroTime,
} from "@kubewright/api";
import { type Writer, errorMessage, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock, Timer } from "@kubewright/clock";

import { EventNames } from "./event-names.js";
import type { EventRecorderOptions } from "./event-recorder.js";
import type { EventDetails, EventSink, EventType } from "./event-sink.js";
import { EventWriter, type PendingEvent } from "./event-writer.js";
import { objectReference } from "./object-reference.js";
import type { Runnable } from "./runnable.js";

/** `host` becomes part of the reporting instance: `COMPONENT-HOST`. Default: the instance is the component. */
export type EventsV1RecorderOptions = Omit<EventRecorderOptions, "correlator">;

/** An event that becomes a series, or goes on as one, when it repeats. */
interface LiveEvent {
  event: EventsV1;
  lastSeenMs: number;
  lastWrittenMs: number;
}

/** How long after its last occurrence an event counts as ended. */
const END_AFTER_MS = 6 * 60_000;
/** How often a series is written while it goes on, so that it does not expire. */
const REFRESH_AFTER_MS = 30 * 60_000;
/** Maximum number of live events. The oldest one ends early. */
const MAX_LIVE_EVENTS = 4096;
const RETRY_PAUSE_MS = 10_000;
const RETRY_JITTER = 0.25;

/**
 * Records Events of events.k8s.io/v1 about objects. Like `EventRecorder` it writes them in order and in the background,
 * and resolves `run` after the remaining events.
 *
 * Events are the same when they agree in everything but the note. The first occurrence is written, and the second as a
 * series with a count of 2. Further ones are only counted: the count is written every 30 minutes, and six minutes after
 * the last occurrence. The first note remains. The regarded object's resourceVersion is compared, too, as upstream
 * does.
 *
 * A recorder without live events has no timer.
 *
 * Upstream: client-go tools/events/event_broadcaster.go and event_recorder.go.
 */
export class EventsV1Recorder implements EventSink, Runnable {
  readonly name: string;
  readonly #events: Writer<EventsV1>;
  readonly #clock: Clock;
  readonly #component: string;
  readonly #instance: string;
  readonly #names: EventNames;
  readonly #writer: EventWriter<EventsV1>;
  /** By everything that makes events the same, oldest first. */
  readonly #live = new Map<string, LiveEvent>();
  #upkeep: Timer | undefined;

  constructor({ client, clock, random, component, host, ...options }: EventsV1RecorderOptions) {
    const ownRandom = random.fork(`events of ${component}`);
    this.#events = client.resource(eventsV1);
    this.#clock = clock;
    this.#component = component;
    this.#instance = host === undefined ? component : `${component}-${host}`;
    this.#names = new EventNames({ clock, random: ownRandom });
    this.#writer = new EventWriter({
      ...options,
      component,
      clock,
      prepare: (event): PendingEvent => ({
        metadata: event.metadata,
        send: (signal) => this.#send(event, signal),
      }),
      pauseMs: () => RETRY_PAUSE_MS * (1 + ownRandom.next() * RETRY_JITTER),
    });
    this.name = this.#writer.name;
  }

  event(
    object: DeepReadonly<KubernetesObject>,
    definition: ResourceDefinition,
    type: EventType,
    reason: string,
    note: string,
    { action = reason, related }: EventDetails = {},
  ): void {
    if (!this.#writer.admits(object, definition, type, reason, note)) return;
    const { name = "", namespace } = object.metadata;
    const regarding = objectReference(object, definition);
    const relatedReference = related && objectReference(related.object, related.definition);
    const key = JSON.stringify([type, action, reason, regarding, relatedReference]);
    const nowMs = this.#clock.now();
    const live = this.#live.get(key);
    if (live !== undefined) {
      if (nowMs - live.lastSeenMs < END_AFTER_MS) return this.#repeat(live, nowMs);
      this.#end(key, live);
    }
    const event: EventsV1 = {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: this.#names.next(name), namespace: namespace || "default" },
      eventTime: formatMicroTime(nowMs),
      reportingController: this.#component,
      reportingInstance: this.#instance,
      action,
      reason,
      regarding,
      ...(relatedReference === undefined ? {} : { related: relatedReference }),
      note,
      type,
    };
    const added: LiveEvent = { event, lastSeenMs: nowMs, lastWrittenMs: nowMs };
    this.#live.set(key, added);
    this.#write(added);
    if (this.#live.size > MAX_LIVE_EVENTS) {
      const [oldest] = this.#live;
      this.#end(...oldest!);
    }
    this.#scheduleUpkeep();
  }

  /** Resolves when all recorded events, including those added meanwhile, are written or dropped. Requires `run`. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** @throws Error when called a second time. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#writer.run(signal);
    this.#upkeep?.cancel();
  }
  #repeat(live: LiveEvent, nowMs: number): void {
    const { event } = live;
    const count = (event.series?.count ?? 1) + 1;
    live.event = { ...event, series: { count, lastObservedTime: formatMicroTime(nowMs) } };
    live.lastSeenMs = nowMs;
    if (event.series === undefined) this.#write(live);
  }

  /** Forgets an event, and writes the last count of its series. */
  #end(key: string, live: LiveEvent): void {
    this.#live.delete(key);
    if (live.event.series !== undefined && this.#writer.hasRoom) this.#write(live);
  }

  #scheduleUpkeep(): void {
    this.#upkeep ??= this.#clock.setTimer(END_AFTER_MS, () => this.#maintain(), { background: true });
  }

  #maintain(): void {
    this.#upkeep = undefined;
    const nowMs = this.#clock.now();
    for (const [key, live] of this.#live) {
      // The rest waits for the next time.
      if (!this.#writer.hasRoom) break;
      if (nowMs - live.lastSeenMs >= END_AFTER_MS) this.#end(key, live);
      else if (live.event.series !== undefined && nowMs - live.lastWrittenMs >= REFRESH_AFTER_MS) this.#write(live);
    }
    if (this.#live.size > 0) this.#scheduleUpkeep();
  }

  #write(live: LiveEvent): void {
    live.lastWrittenMs = this.#clock.now();
    this.#writer.add(live.event);
  }

  async #send(event: EventsV1, signal: AbortSignal): Promise<void> {
    const { metadata, series } = event;
    const { name = "", namespace } = metadata;
    if (series === undefined) {
      await this.#events.create(event, { namespace, signal });
      return;
    }
    try {
      await this.#events.patch(name, { type: "strategic", body: { series } }, { namespace, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#createSeries(event, signal);
    }
  }

  /** The Event has expired or was deleted: it is created again with its series. */
  async #createSeries(event: EventsV1, signal: AbortSignal): Promise<void> {
    try {
      await this.#events.create(event, { namespace: event.metadata.namespace, signal });
    } catch (error) {
      // Something else has created it since the patch. The next attempt patches it.
      if (isAlreadyExists(error)) throw new Error(errorMessage(error), { cause: error });
      throw error;
    }
  }
}
