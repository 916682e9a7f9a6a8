import { type Event, type EventsV1, events, eventsV1 } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { coreFromEventsV1, eventsV1FromCore } from "./conversion.js";
import { eventCells, eventColumns } from "./printer.js";
import { validateEvent, validateEventUpdate } from "./validation.js";

/** The lifetime of an Event after its last write. Upstream: kube-apiserver's `--event-ttl`. */
const TIME_TO_LIVE_MS = 60 * 60 * 1000;

/** Upstream: `pkg/registry/core/event`. */
export const eventStrategy: ResourceStrategy<Event> = {
  allowCreateOnUpdate: true,
  validateCreate: (event, errors) => validateEvent(event, "v1", errors),
  validateUpdate: (event, stored, errors) => validateEventUpdate(event, stored, "v1", errors),
  fieldSelectors: {
    ...objectSelectors("involvedObject", (event: Event) => event.involvedObject),
    reason: ({ reason }) => reason ?? "",
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? "",
    source: ({ source, reportingComponent }) => source?.component || reportingComponent || "",
    type: ({ type }) => type ?? "",
  },
  printer: { columns: eventColumns, cells: eventCells },
};

/** Upstream: the same storage, distinguished by the version of the request. */
export const eventsV1Strategy: ResourceStrategy<EventsV1> = {
  allowCreateOnUpdate: true,
  validateCreate: (event, errors) => validateEvent(coreFromEventsV1(event), "events.k8s.io/v1", errors),
  validateUpdate: (event, stored, errors) =>
    validateEventUpdate(coreFromEventsV1(event), coreFromEventsV1(stored), "events.k8s.io/v1", errors),
  fieldSelectors: {
    ...objectSelectors("regarding", (event: EventsV1) => event.regarding),
    reason: ({ reason }) => reason ?? "",
    reportingController: ({ reportingController }) => reportingController ?? "",
    type: ({ type }) => type ?? "",
  },
  printer: { columns: eventColumns, cells: (event, nowMs) => eventCells(coreFromEventsV1(event), nowMs) },
};

export const eventResource = builtInResource<Event>({
  definition: events,
  shortNames: ["ev"],
  strategy: eventStrategy,
  timeToLiveMs: TIME_TO_LIVE_MS,
});

export const eventsV1Resource = builtInResource<EventsV1>({
  definition: eventsV1,
  shortNames: ["ev"],
  strategy: eventsV1Strategy,
  timeToLiveMs: TIME_TO_LIVE_MS,
  view: {
    storedAs: events,
    fromStored: (stored) => eventsV1FromCore(stored as Event),
    toStored: (event) => coreFromEventsV1(event),
  },
});

function objectSelectors<T>(
  prefix: string,
  object: (event: T) => Event["involvedObject"] | undefined,
): Record<string, (event: T) => string> {
  const members = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;
  return Object.fromEntries(
    members.map((member) => [`${prefix}.${member}`, (event: T) => object(event)?.[member] ?? ""]),
  );
}
