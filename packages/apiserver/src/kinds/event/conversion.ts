import type { Event, EventsV1 } from "@kubewright/api";

/** Fields with another name in events.k8s.io/v1. Upstream: `pkg/apis/core` as the hub of both versions. */
const EVENTS_V1_NAMES = {
  message: "note",
  involvedObject: "regarding",
  reportingComponent: "reportingController",
  source: "deprecatedSource",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  count: "deprecatedCount",
} as const;
const CORE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EVENTS_V1_NAMES).map(([core, events]) => [events, core]),
);

/** Fields that are written even when empty, as Go writes fields without `omitempty`. */
const CORE_ZERO_VALUES = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: "",
  reportingInstance: "",
};
const EVENTS_V1_ZERO_VALUES = {
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
  eventTime: null,
};
/** Fields that are omitted when empty, although v1 writes them. */
const EVENTS_V1_OMITTED = ["reportingController", "reportingInstance", "note"];

/** Converts a stored Event to events.k8s.io/v1. */
export function eventsV1FromCore(event: Event): EventsV1 {
  const result = renameMembers(event, EVENTS_V1_NAMES, EVENTS_V1_ZERO_VALUES, "events.k8s.io/v1");
  for (const name of EVENTS_V1_OMITTED) if (result[name] === "") delete result[name];
  return result as unknown as EventsV1;
}

/** Converts an Event of events.k8s.io/v1 to its stored form. */
export function coreFromEventsV1(event: EventsV1): Event {
  return renameMembers(event, CORE_NAMES, CORE_ZERO_VALUES, "v1") as unknown as Event;
}

function renameMembers(
  event: object,
  names: Readonly<Record<string, string>>,
  zero: Readonly<Record<string, unknown>>,
  apiVersion: string,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(event)) result[Object.hasOwn(names, name) ? names[name]! : name] = value;
  for (const [name, value] of Object.entries(zero))
    result[name] ??= typeof value === "object" && value !== null ? {} : value;
  if (Object.hasOwn(result, "apiVersion")) result.apiVersion = apiVersion;
  return result;
}
