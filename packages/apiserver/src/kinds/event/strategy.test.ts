import type { Event, EventsV1 } from "@kubewright/api";
import { expect, test } from "vitest";

import { create, row, update } from "../../../test/strategy-calls.js";
import { coreFromEventsV1, eventsV1FromCore } from "./conversion.js";
import { eventStrategy, eventsV1Strategy } from "./strategy.js";

const TIME = "2026-01-01T00:00:00.000000Z";
const event = (more: object = {}): object => ({
  metadata: { name: "e" },
  involvedObject: { kind: "Pod", name: "p", namespace: "default" },
  reason: "Tested",
  message: "a message",
  type: "Normal",
  ...more,
});
const newEvent = (more: object = {}): object => ({
  metadata: { name: "e" },
  eventTime: TIME,
  reportingController: "example.com/c",
  reportingInstance: "c-0",
  action: "Testing",
  reason: "Tested",
  regarding: { kind: "Pod", name: "p", namespace: "default" },
  note: "a message",
  type: "Normal",
  ...more,
});

test.each<[object, string]>([
  [{}, ""],
  [
    { involvedObject: { kind: "Pod", namespace: "other" } },
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ],
  [{ involvedObject: { kind: "Node" } }, ""],
  [{ eventTime: TIME, reportingComponent: "a.io/c" }, "[reportingInstance: Required value, action: Required value]"],
])("a core Event with %j is judged", (more, message) => {
  expect(create(eventStrategy, event(more)).message).toBe(message);
});

test.each<[object, string]>([
  [{}, ""],
  [{ eventTime: undefined }, "eventTime: Required value"],
  [{ type: "Odd" }, 'type: Invalid value: "": has invalid value: Odd'],
  [{ note: "x".repeat(1025) }, 'message: Invalid value: "": can have at most 1024 characters'],
  [
    { deprecatedCount: 1, deprecatedSource: { component: "x" } },
    '[count: Invalid value: "": needs to be unset, source: Invalid value: "": needs to be unset]',
  ],
  [
    { series: { count: 1 } },
    '[series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value]',
  ],
])("an events.k8s.io/v1 Event with %j is judged", (more, message) => {
  expect(create(eventsV1Strategy, newEvent(more)).message).toBe(message);
});

test("only the series of an Event changes through events.k8s.io/v1, anything through v1", () => {
  const stored = create(eventsV1Strategy, newEvent()).object;
  expect(update(eventsV1Strategy, stored, (next) => (next.note = "changed")).message).toBe(
    'message: Invalid value: "changed": field is immutable',
  );
  expect(update(eventsV1Strategy, stored, (next) => (next.series = { count: 2, lastObservedTime: TIME })).message).toBe(
    "",
  );
  expect(update(eventStrategy, coreFromEventsV1(stored), (next) => (next.message = "changed")).message).toBe("");
});

test("the two forms are views of one object", () => {
  const core = create(eventStrategy, {
    ...event({
      count: 2,
      source: { component: "tester" },
      reportingComponent: "",
      reportingInstance: "",
      eventTime: null,
    }),
    apiVersion: "v1",
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: null,
  }).object;
  const seen = eventsV1FromCore(core);
  expect(seen).toEqual({
    apiVersion: "events.k8s.io/v1",
    metadata: core.metadata,
    regarding: core.involvedObject,
    reason: "Tested",
    note: "a message",
    type: "Normal",
    deprecatedCount: 2,
    deprecatedSource: { component: "tester" },
    deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
    deprecatedLastTimestamp: null,
    eventTime: null,
  });
  expect(coreFromEventsV1(seen)).toEqual(core);
});

test("an Event is printed with how often and how recently it was seen", () => {
  const printed = (more: object): Record<string, unknown> => row(eventStrategy, event(more) as Event);
  expect(printed({ source: { component: "tester", host: "h" }, message: "  spaces \n" })).toMatchObject({
    "Last Seen": "<unknown>",
    Object: "pod/p",
    Source: "tester, h",
    Message: "spaces",
    Count: 1,
  });
  const series = { count: 5, lastObservedTime: "2025-12-31T23:59:30.000000Z" };
  expect(printed({ series, eventTime: "2025-12-31T23:58:00.000000Z" })).toMatchObject({
    "Last Seen": "30s",
    "First Seen": "2m",
    Count: 5,
  });
  expect(printed({ involvedObject: { kind: "CronJob" } })).toMatchObject({ Object: "cronjob" });
  expect(row(eventsV1Strategy, newEvent() as EventsV1)).toMatchObject({
    Object: "pod/p",
    Source: "example.com/c, c-0",
  });
});
