import { type DeepReadonly, type Event, parseTime } from "@kubewright/api";

/** An event of the cluster that is part of an explanation. */
export interface EventFact {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** The involved object, e.g. `Pod pi-x2x4f`. */
  readonly subject: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Maximum number of events listed. */
const MAX_EVENTS = 8;

export function eventFacts(events: readonly DeepReadonly<Event>[]): EventFact[] {
  return events
    .map((event): EventFact => {
      const seriesMs = parseTime(event.series?.lastObservedTime);
      const eventMs = parseTime(event.eventTime) ?? parseTime(event.metadata.creationTimestamp) ?? 0;
      const firstMs = parseTime(event.firstTimestamp) ?? eventMs;
      return {
        type: event.type ?? "Normal",
        reason: event.reason ?? "",
        message: event.message ?? "",
        subject: `${event.involvedObject.kind ?? ""} ${event.involvedObject.name ?? ""}`,
        count: event.series?.count ?? event.count ?? 1,
        firstMs,
        lastMs: Math.max(firstMs, seriesMs ?? parseTime(event.lastTimestamp) ?? eventMs),
      };
    })
    .sort((a, b) => a.lastMs - b.lastMs);
}

/** Returns the newest events, oldest first. Warnings have priority where not all fit. */
export function relevantEvents(events: readonly EventFact[]): readonly EventFact[] {
  if (events.length <= MAX_EVENTS) return events;
  const warnings = events.filter(({ type }) => type === "Warning").slice(-MAX_EVENTS / 2);
  const others = events.filter((event) => !warnings.includes(event)).slice(warnings.length - MAX_EVENTS);
  return events.filter((event) => warnings.includes(event) || others.includes(event));
}
