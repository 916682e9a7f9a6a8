import type { Event } from "@kubewright/api";
import { type Clock, TokenBucket } from "@kubewright/clock";

import { LruMap } from "./lru-map.js";

export interface EventCorrelatorOptions {
  readonly clock: Clock;
  /** Entries of each of the three caches. Default 4096. */
  readonly cacheSize?: number;
  /** Distinct messages within the interval from which on events are combined. Default 10. */
  readonly maxEvents?: number;
  /** Default 600,000. */
  readonly maxIntervalMs?: number;
  /** Events per object and type that may be written at once. Default 25. */
  readonly burst?: number;
  /** Events per object and type that may be written in the long run. Default one in 300 s. */
  readonly perSecond?: number;
}

/** What to write for one event. */
export interface CorrelatedEvent {
  readonly event: Event;
  /** `create` for the first of its kind, `patch` for its repetitions, `discard` when there were too many. */
  readonly action: "create" | "patch" | "discard";
  /** Whether the event stands for several with different messages. */
  readonly combined: boolean;
}

interface Aggregation {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Observation {
  readonly name: string;
  readonly firstTimestamp: string | undefined;
  readonly count: number;
}

/**
 * Keeps a stream of events short: combines those that differ only in their message, counts those that are the same, and
 * drops what comes too fast. For the events of one source.
 *
 * Upstream: client-go tools/record/events_cache.go EventCorrelator. A new name for a combined event is asked of `newName`,
 * as it becomes an event of its own; upstream drops an arbitrary remembered message, here it is the oldest.
 */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #maxEvents: number;
  readonly #maxIntervalMs: number;
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #aggregations: LruMap<string, Aggregation>;
  readonly #observations: LruMap<string, Observation>;
  readonly #buckets: LruMap<string, TokenBucket>;

  constructor(options: EventCorrelatorOptions) {
    const { clock, cacheSize = 4096, maxEvents = 10, maxIntervalMs = 600_000, burst = 25 } = options;
    this.#clock = clock;
    this.#maxEvents = maxEvents;
    this.#maxIntervalMs = maxIntervalMs;
    this.#burst = burst;
    // Upstream's rate is a float32, a little above 1/300: after exactly 300 s a token is there.
    this.#perSecond = options.perSecond ?? Math.fround(1 / 300);
    this.#aggregations = new LruMap(cacheSize);
    this.#observations = new LruMap(cacheSize);
    this.#buckets = new LruMap(cacheSize);
  }

  correlate(event: Event, newName: () => string): CorrelatedEvent {
    const object = objectKeyOf(event);
    const kindOfEvent = `${object}|${event.type}|${event.reason}`;
    const combined = this.#aggregate(kindOfEvent, event.message ?? "");
    const candidate: Event = combined ? combine(event, newName()) : event;
    const key = combined ? kindOfEvent : fullKey(kindOfEvent, event);

    // Remembered before it is written, and even if it never is: the next one written carries the count.
    let isNew = false;
    const seen = this.#observations.getOrAdd(key, () => {
      isNew = true;
      return observationOf(candidate);
    });
    const observed: Event = isNew ? candidate : repeat(candidate, seen);
    if (!isNew) this.#observations.set(key, observationOf(observed));
    if (!this.#bucket(`${object}|${event.type}`).tryTake()) return { event: observed, action: "discard", combined };
    return { event: observed, action: isNew ? "create" : "patch", combined };
  }

  /** Takes over what the API server made of a written event. */
  written(event: Event, stored: { readonly metadata: { readonly name?: string }; readonly count?: number }): void {
    const name = stored.metadata.name ?? event.metadata.name ?? "";
    const count = stored.count ?? event.count ?? 1;
    // Mostly the server has changed nothing of it.
    if (name === event.metadata.name && count === (event.count ?? 1)) return;
    const key = fullKey(`${objectKeyOf(event)}|${event.type}|${event.reason}`, event);
    this.#observations.set(key, { name, firstTimestamp: event.firstTimestamp, count });
  }

  /** Whether the event is one too many with a message of its own. */
  #aggregate(key: string, message: string): boolean {
    const nowMs = this.#clock.monotonic();
    // Those that have ended need not fill the cache: small ones are the faster for it.
    this.#aggregations.dropOldest(({ lastMs }) => nowMs - lastMs > this.#maxIntervalMs);
    const record = this.#aggregations.getOrAdd(key, () => ({ messages: new Set(), lastMs: nowMs }));
    record.messages.add(message);
    record.lastMs = nowMs;
    if (record.messages.size < this.#maxEvents) return false;
    const [oldest] = record.messages;
    record.messages.delete(oldest!);
    return true;
  }

  #bucket(key: string): TokenBucket {
    this.#buckets.dropOldest((bucket) => bucket.isFull);
    const make = (): TokenBucket =>
      new TokenBucket({ clock: this.#clock, perSecond: this.#perSecond, burst: this.#burst });
    return this.#buckets.getOrAdd(key, make);
  }
}

function observationOf({ metadata, firstTimestamp, count = 1 }: Event): Observation {
  return { name: metadata.name ?? "", firstTimestamp, count };
}

function objectKeyOf({ involvedObject: { kind, namespace, name, uid, apiVersion } }: Event): string {
  return `${kind}|${namespace ?? ""}|${name}|${uid}|${apiVersion}`;
}

function fullKey(kindOfEvent: string, event: Event): string {
  return `${kindOfEvent}|${event.involvedObject.fieldPath ?? ""}|${event.message ?? ""}`;
}

/** As upstream, a combined event does not say who reports it, except in its source. */
function combine(
  { reportingComponent: _component, reportingInstance: _instance, ...event }: Event,
  name: string,
): Event {
  return {
    ...event,
    metadata: { name, ...(event.metadata.namespace === undefined ? {} : { namespace: event.metadata.namespace }) },
    message: `(combined from similar events): ${event.message ?? ""}`,
  };
}

function repeat(event: Event, seen: Observation): Event {
  const { firstTimestamp: _now, ...rest } = event;
  return {
    ...rest,
    metadata: { ...event.metadata, name: seen.name },
    ...(seen.firstTimestamp === undefined ? {} : { firstTimestamp: seen.firstTimestamp }),
    count: seen.count + 1,
  };
}
