import type { Event } from "@kubewright/api";
import { type Clock, TokenBucket } from "@kubewright/clock";

import { type LruEntry, LruList } from "./lru-list.js";

export interface EventCorrelatorOptions {
  readonly clock: Clock;
  /** Different events remembered, those that came last. Default 4096. */
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

/** What is remembered of the events of one type about one object: a branch, whose leaves are observations. */
interface Subject {
  readonly key: string;
  /** One for each event that is written. */
  readonly bucket: TokenBucket;
  /** By reason. */
  readonly similar: Map<string, SimilarEvents>;
}

/** Events about one object that differ only in their message. */
interface SimilarEvents {
  readonly subject: Subject;
  readonly reason: string;
  /** Different ones of late, oldest first; fewer than {@link EventCorrelatorOptions.maxEvents}. */
  messages: string[];
  lastMs: number;
  /** By what else is to be equal; of the combined one that is nothing. */
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
 * Keeps a stream of events short: combines those that differ only in their message, counts those that are the same, and
 * drops what comes too fast. For the events of one source.
 *
 * Upstream: client-go tools/record/events_cache.go EventCorrelator. A new name for a combined event is asked of `newName`,
 * as it becomes an event of its own; upstream drops an arbitrary remembered message, here it is the oldest. Upstream has a
 * cache each for combining, counting and dropping, and compares all fields of the involved object; here an object is known
 * by its UID, if it has one, and everything about it is forgotten with the last of its events.
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
    // Upstream's rate is a float32, a little above 1/300: after exactly 300 s a token is there.
    this.#perSecond = options.perSecond ?? Math.fround(1 / 300);
    this.#observations = new LruList(cacheSize);
  }

  correlate(event: Event, newName: () => string): CorrelatedEvent {
    const nowMs = this.#clock.monotonic();
    const similar = this.#similarTo(event, nowMs);
    const combined = this.#aggregate(similar, event.message ?? "", nowMs);
    const candidate: Event = combined ? combine(event, newName()) : event;
    const key = combined ? undefined : detailsOf(event);

    // Remembered before it is written, and even if it never is: the next one written carries the count.
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

  /** Takes over what the API server made of a written event. */
  updateState(event: Event, stored: { readonly metadata: { readonly name?: string }; readonly count?: number }): void {
    const name = stored.metadata.name ?? event.metadata.name ?? "";
    const count = stored.count ?? event.count ?? 1;
    // Mostly the server has changed nothing of it.
    if (name === event.metadata.name && count === (event.count ?? 1)) return;
    const similar = this.#subjects.get(subjectKeyOf(event))?.similar.get(event.reason ?? "");
    const seen = similar?.observations.get(detailsOf(event));
    // It may have been pushed out meanwhile.
    if (seen === undefined) return;
    seen.name = name;
    seen.count = count;
  }

  /** Whether the event is one too many with a message of its own. */
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

  /** Takes a leaf off, and the branches that bear no other. */
  #forget({ similar, key }: Observation): void {
    similar.observations.delete(key);
    if (similar.observations.size > 0) return;
    const { subject } = similar;
    subject.similar.delete(similar.reason);
    if (subject.similar.size === 0) this.#subjects.delete(subject.key);
  }
}

/** Mostly the UID itself: a string that is there already, and no new one to be hashed. */
function subjectKeyOf({ type, involvedObject: { kind, namespace, name, uid, apiVersion } }: Event): string {
  const object = uid || `|${kind}|${namespace ?? ""}|${name}|${apiVersion}`;
  return type === "Normal" ? object : `${type}|${object}`;
}

/** What tells similar events apart. */
function detailsOf({ involvedObject: { fieldPath }, message = "" }: Event): string {
  return fieldPath ? `${fieldPath}|${message}` : message;
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
    count: seen.count,
  };
}
