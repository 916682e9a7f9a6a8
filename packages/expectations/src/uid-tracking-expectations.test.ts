import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { UIDTrackingExpectations } from "./uid-tracking-expectations.js";

const KEY = "ns/owner";

test("a deletion counts once, and a foreign one not at all", () => {
  const expectations = new UIDTrackingExpectations({ clock: new SimulatedClock() });
  expectations.expectDeletions(KEY, ["ns/a", "ns/b"]);
  expectations.deletionObserved(KEY, "ns/a");
  expectations.deletionObserved(KEY, "ns/a");
  expectations.deletionObserved(KEY, "ns/c");
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
  expect(expectations.getUIDs(KEY)).toEqual(new Set(["ns/b"]));
  expectations.deletionObserved(KEY, "ns/b");
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("duplicate ids count once", () => {
  const expectations = new UIDTrackingExpectations({ clock: new SimulatedClock() });
  expectations.expectDeletions(KEY, ["ns/a", "ns/a", "ns/b"]);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 0, del: 2 });
});

test("expecting deletions while some are outstanding is reported and overwrites them", () => {
  const clobbered: [string, string[]][] = [];
  const expectations = new UIDTrackingExpectations({
    clock: new SimulatedClock(),
    onClobber: (key, outstanding) => clobbered.push([key, [...outstanding]]),
  });
  expectations.expectDeletions(KEY, ["ns/a"]);
  expectations.expectDeletions(KEY, ["ns/b"]);
  expect(clobbered).toEqual([[KEY, ["ns/a"]]]);
  expectations.deletionObserved(KEY, "ns/a");
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
  expectations.deletionObserved(KEY, "ns/b");
  expectations.expectDeletions(KEY, ["ns/c"]);
  expect(clobbered.length).toBe(1);
});

test("deleting drops counts and ids", () => {
  const expectations = new UIDTrackingExpectations({ clock: new SimulatedClock() });
  expectations.expectDeletions(KEY, ["ns/a"]);
  expectations.deleteExpectations(KEY);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(expectations.getUIDs(KEY).size).toBe(0);
});

test("creations are counted, not identified", () => {
  const expectations = new UIDTrackingExpectations({ clock: new SimulatedClock() });
  expectations.expectCreations(KEY, 2);
  expectations.creationObserved(KEY);
  expectations.lowerExpectations(KEY, 1, 0);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expectations.raiseExpectations(KEY, 1, 0);
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
});
