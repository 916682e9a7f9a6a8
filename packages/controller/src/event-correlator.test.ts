import type { Event } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { EventCorrelator, type EventCorrelatorOptions } from "./event-correlator.js";

function setUp(options: Partial<EventCorrelatorOptions> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const correlator = new EventCorrelator({ clock, ...options });
  let names = 0;
  const record = ({
    object = "pi",
    type = "Normal",
    reason = "Created",
    message = "m",
    fieldPath = "",
    uid = true,
  } = {}) => {
    const event: Event = {
      metadata: { namespace: "default", name: `${object}.${++names}` },
      involvedObject: {
        apiVersion: "batch/v1",
        kind: "Job",
        namespace: "default",
        name: object,
        ...(uid ? { uid: `${object}-uid` } : {}),
        ...(fieldPath === "" ? {} : { fieldPath }),
      },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: `first ${names}`,
      lastTimestamp: `last ${names}`,
      reportingComponent: "job-controller",
    };
    return correlator.correlate(event, () => `${object}.${++names}`);
  };
  return { clock, correlator, record };
}

/** Summarises consecutive equal actions: `create×9 patch×2`. */
function summary(actions: readonly string[]): string {
  const runs: [string, number][] = [];
  for (const action of actions) {
    const last = runs.at(-1);
    if (last?.[0] === action) last[1]++;
    else runs.push([action, 1]);
  }
  return runs.map(([action, count]) => `${action}×${count}`).join(" ");
}

test("an event that repeats keeps the first one's name and time, and counts", () => {
  const { record } = setUp();
  const first = record();
  const third = [record(), record()][1]!;
  expect(first).toMatchObject({ action: "create", event: { metadata: { name: "pi.1" }, count: 1 } });
  expect(third).toMatchObject({
    action: "patch",
    event: { metadata: { name: "pi.1" }, count: 3, firstTimestamp: "first 1", lastTimestamp: "last 3" },
  });
});

test("events that differ only in their message are combined from the tenth on", () => {
  const { record } = setUp();
  const correlated = Array.from({ length: 12 }, (_, index) => record({ message: `message ${index + 1}` }));
  expect(summary(correlated.map(({ action }) => action))).toBe("create×10 patch×2");
  expect(correlated.slice(0, 9).map(({ event }) => event.message)).toEqual(
    Array.from({ length: 9 }, (_, index) => `message ${index + 1}`),
  );
  const [tenth, , twelfth] = correlated.slice(9);
  expect(tenth!.event).toMatchObject({ message: "(combined from similar events): message 10", count: 1 });
  expect(tenth!.event.metadata.name).not.toBe("pi.10");
  expect(tenth!.event).not.toHaveProperty("reportingComponent");
  expect(twelfth!.event).toMatchObject({
    message: "(combined from similar events): message 12",
    count: 3,
    metadata: { name: tenth!.event.metadata.name },
  });
});

test("combining ends when nothing similar came for more than ten minutes", async () => {
  const { clock, record } = setUp();
  for (let index = 0; index < 9; index++) record({ message: `m${index}` });
  await clock.advance(600_000);
  expect(record({ message: "after exactly ten minutes" }).combined).toBe(true);
  await clock.advance(600_001);
  const fresh = Array.from({ length: 9 }, (_, index) => record({ message: `later ${index}` }).combined);
  expect(fresh).toEqual(Array.from({ length: 9 }, () => false));
});

test("a message still remembered passes by itself while others are combined", () => {
  const { record } = setUp();
  for (let index = 1; index <= 10; index++) record({ message: `m${index}` });
  expect(record({ message: "m9" })).toMatchObject({
    combined: false,
    action: "patch",
    event: { count: 2, message: "m9" },
  });
});

test("of 26 different events about one object 25 are written; 300 s later one more may be", async () => {
  const { clock, record } = setUp();
  const burst = Array.from({ length: 26 }, (_, index) => record({ reason: `Reason${index}` }).action);
  expect(summary(burst)).toBe("create×25 discard×1");
  expect(record({ type: "Warning", reason: "Failed" }).action).toBe("create");
  expect(record({ object: "other" }).action).toBe("create");
  await clock.advance(299_000);
  expect(record({ reason: "Early" }).action).toBe("discard");
  await clock.advance(1_000);
  expect(record({ reason: "Late" }).action).toBe("create");
  expect(record({ reason: "TooLate" }).action).toBe("discard");
});

test("the count increases while events are discarded", async () => {
  const { clock, record } = setUp();
  const burst = Array.from({ length: 30 }, () => record());
  expect(summary(burst.map(({ action }) => action))).toBe("create×1 patch×24 discard×5");
  await clock.advance(300_000);
  expect(record()).toMatchObject({ action: "patch", event: { count: 31 } });
});

test("an object pushed out of the caches is new again", () => {
  const { record } = setUp({ cacheSize: 2 });
  record({ object: "a" });
  record({ object: "b" });
  record({ object: "c" });
  expect(record({ object: "c" }).action).toBe("patch");
  expect(record({ object: "a" }).action).toBe("create");
});

test("events are the same only if their object, type, reason, field and message are", () => {
  const { record } = setUp();
  const different = [
    {},
    { object: "e" },
    { type: "Warning" },
    { reason: "Deleted" },
    { message: "n" },
    { fieldPath: "spec" },
    { uid: false },
    { uid: false, object: "e" },
  ];
  expect(summary(different.map((event) => record(event).action))).toBe("create×8");
  expect(summary(different.map((event) => record(event).action))).toBe("patch×8");
});

test("of one object the events that came last are remembered, and with the last of them everything is forgotten", () => {
  const { record } = setUp({ cacheSize: 2, burst: 3 });
  for (const reason of ["A", "B", "A", "C"]) record({ reason });
  expect(record({ reason: "A" })).toMatchObject({ action: "discard", event: { count: 3 } });
  expect(record({ reason: "B" })).toMatchObject({ action: "discard", event: { count: 1 } });
  record({ object: "other" });
  record({ object: "another" });
  expect(record({ reason: "A" })).toMatchObject({ action: "create", event: { count: 1 } });
});

test("the reason an object had first may be forgotten before others, and come again", () => {
  const { record } = setUp({ cacheSize: 2, burst: 7 });
  const actions = ["A", "B", "C", "B", "A", "B"].map((reason) => record({ reason }).action);
  expect(actions).toEqual(["create", "create", "create", "patch", "create", "patch"]);
  // The object's rate limiter is unchanged: it knows the rest of the burst.
  expect(["A", "B"].map((reason) => record({ reason }).action)).toEqual(["patch", "discard"]);
});

test("what the server made of an event is taken over, unless it was forgotten meanwhile", () => {
  const { correlator, record } = setUp({ cacheSize: 1 });
  const { event } = record();
  correlator.updateState(event, { metadata: { name: "renamed" }, count: 7 });
  expect(record()).toMatchObject({ action: "patch", event: { metadata: { name: "renamed" }, count: 8 } });
  record({ object: "other" });
  correlator.updateState(event, { metadata: { name: "too late" }, count: 7 });
  expect(record({ object: "other" }).action).toBe("patch");
  expect(record()).toMatchObject({ action: "create", event: { count: 1 } });
});
