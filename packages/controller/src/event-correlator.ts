import type { Event } from "@kubewright/api";
import { type Clock, TokenBucket } from "@kubewright/clock";

import { type LruEntry, LruList } from "./lru-list.js";

export interface EventCorrelatorOptions {
  readonly clock: Clock;
  /** Maximum number of distinct events in the cache; the least recently used are evicted. Default 4096. */
  readonly cacheSize?: number;
  /** Number of distinct messages within the interval from which events are combined. Default 10. */
  readonly maxEvents?: number;
  /** Default 600,000. */
  readonly maxIntervalMs?: number;
  /** Maximum burst of events per object and type. Default 25. */
  readonly burst?: number;
  /** Sustained rate of events per object and type. Default one in 300 s. */
  readonly perSecond?: number;
}

/** The result for one event. */
export interface CorrelatedEvent {
  readonly event: Event;
  /** `create` for the first event of its kind, `patch` for a repetition, `discard` above the rate limit. */
  readonly action: "create" | "patch" | "discard";
  /** Whether the event combines several events with different messages. */
  readonly combined: boolean;
}

/** State for the events of one type about one object. It is the root of a tree whose leaves are observations. */
interface Subject {
  readonly key: string;
  /** Yields one token per written event. */
  readonly bucket: TokenBucket;
  /** Keyed by reason. */
  readonly similar: Map<string, SimilarEvents>;
}

/** Events about one object that differ only in their message. */
interface SimilarEvents {
  readonly subject: Subject;
  readonly reason: string;
  /** Recent distinct messages, oldest first; fewer than {@link EventCorrelatorOptions.maxEvents}. */
  messages: string[];
  lastMs: number;
  /** Keyed by field path and message. The combined event has the key `undefined`. */
  readonly observations: Map<string | undefined, Observation>;
}

/** One event and its repetitions. */
interface Observation extends LruEntry<Observation> {
  readonly similar: SimilarEvents;
  readonly key: string | undefined;
  name: string;
  readonly firstTimestamp: string | undefined;
  count: number;
}

/**
 * Limits a stream of events from one source. It combines events that differ only in their message, counts identical
 * events, and discards events above the rate limit.
 *
 * Upstream: client-go tools/record/events_cache.go EventCorrelator. Differences:
 *
 * - A combined event gets a new name from `newName`, because it becomes a separate event.
 * - Upstream drops an arbitrary message from the cache; this class drops the oldest.
 * - Upstream has separate caches for combining, counting and discarding. This class deletes all state of an object with
 *   its last event.
 * - Upstream compares all fields of the involved object. This class uses the UID if there is one.
 */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #maxEvents: number;
  readonly #maxIntervalMs: number;
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #subjects = new Map<string, Subject>();
  readonly #observations: LruList<Observation>;

  constructor(options: EventCorrelatorOptions) {
    const { clock, cacheSize = 4096, maxEvents = 10, maxIntervalMs = 600_000, burst = 25 } = options;
    this.#clock = clock;
    this.#maxEvents = maxEvents;
    this.#maxIntervalMs = maxIntervalMs;
    this.#burst = burst;
    // Upstream's rate is a float32 slightly above 1/300, so that a token is available after exactly 300 s.
    this.#perSecond = options.perSecond ?? Math.fround(1 / 300);
    this.#observations = new LruList(cacheSize);
  }

  correlate(event: Event, newName: () => string): CorrelatedEvent {
    const nowMs = this.#clock.monotonic();
    const similar = this.#similarTo(event, nowMs);
    const combined = this.#aggregate(similar, event.message ?? "", nowMs);
    const candidate: Event = combined ? combine(event, newName()) : event;
    const key = combined ? undefined : detailsOf(event);

    // The count increases before the write, and also for an event that is never written: the next written event carries
    // the count.
    const seen = similar.observations.get(key);
    let observed = candidate;
    if (seen === undefined) this.#remember(similar, key, candidate);
    else {
      this.#observations.use(seen);
      seen.count++;
      observed = repeat(candidate, seen);
    }
    if (!similar.subject.bucket.tryTake()) return { event: observed, action: "discard", combined };
    return { event: observed, action: seen === undefined ? "create" : "patch", combined };
  }

  /** Stores the name and count that the API server returned for a written event. */
  updateState(event: Event, stored: { readonly metadata: { readonly name?: string }; readonly count?: number }): void {
    const name = stored.metadata.name ?? event.metadata.name ?? "";
    const count = stored.count ?? event.count ?? 1;
    // The common case: the server has changed neither.
    if (name === event.metadata.name && count === (event.count ?? 1)) return;
    const similar = this.#subjects.get(subjectKeyOf(event))?.similar.get(event.reason ?? "");
    const seen = similar?.observations.get(detailsOf(event));
    // The entry may have been evicted in the meantime.
    if (seen === undefined) return;
    seen.name = name;
    seen.count = count;
  }

  /** Returns whether the event has to be combined because there are too many distinct messages. */
  #aggregate(similar: SimilarEvents, message: string, nowMs: number): boolean {
    if (nowMs - similar.lastMs > this.#maxIntervalMs) similar.messages = [message];
    else if (!similar.messages.includes(message)) similar.messages.push(message);
    similar.lastMs = nowMs;
    if (similar.messages.length < this.#maxEvents) return false;
    similar.messages.shift();
    return true;
  }

  #similarTo(event: Event, nowMs: number): SimilarEvents {
    const { reason = "", message = "" } = event;
    const key = subjectKeyOf(event);
    let subject = this.#subjects.get(key);
    if (subject === undefined) {
      const bucket = new TokenBucket({ clock: this.#clock, perSecond: this.#perSecond, burst: this.#burst });
      subject = { key, bucket, similar: new Map() };
      this.#subjects.set(key, subject);
    }
    let similar = subject.similar.get(reason);
    if (similar === undefined) {
      similar = { subject, reason, messages: [message], lastMs: nowMs, observations: new Map() };
      subject.similar.set(reason, similar);
    }
    return similar;
  }

  #remember(similar: SimilarEvents, key: string | undefined, { metadata, firstTimestamp, count = 1 }: Event): void {
    const { name = "" } = metadata;
    const observation = { similar, key, name, firstTimestamp, count, older: undefined, newer: undefined };
    similar.observations.set(key, observation);
    const evicted = this.#observations.add(observation);
    if (evicted !== undefined) this.#forget(evicted);
  }

  /** Removes a leaf, and the parents that have no other leaves. */
  #forget({ similar, key }: Observation): void {
    similar.observations.delete(key);
    if (similar.observations.size > 0) return;
    const { subject } = similar;
    subject.similar.delete(similar.reason);
    if (subject.similar.size === 0) this.#subjects.delete(subject.key);
  }
}

/** The key is usually the UID itself: an existing string, so that no new string has to be hashed. */
function subjectKeyOf({ type, involvedObject: { kind, namespace, name, uid, apiVersion } }: Event): string {
  const object = uid || `|${kind}|${namespace ?? ""}|${name}|${apiVersion}`;
  return type === "Normal" ? object : `${type}|${object}`;
}

/** Returns the fields in which similar events may differ. */
function detailsOf({ involvedObject: { fieldPath }, message = "" }: Event): string {
  return fieldPath ? `${fieldPath}|${message}` : message;
}

/** As upstream, a combined event has no reportingComponent or reportingInstance, only its source. */
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
    count: seen.count,
  };
}
