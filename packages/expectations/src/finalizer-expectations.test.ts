import { expect, test } from "vitest";

import { FinalizerExpectations } from "./finalizer-expectations.js";

test("expected removals add up until each is observed", () => {
  const expectations = new FinalizerExpectations();
  expectations.expectFinalizersRemoved("ns/job", ["a", "b"]);
  expectations.expectFinalizersRemoved("ns/job", ["b", "c"]);
  expect(expectations.expectedUIDs("ns/job")).toEqual(new Set(["a", "b", "c"]));
  expectations.finalizerRemovalObserved("ns/job", "b");
  expectations.finalizerRemovalObserved("ns/job", "unknown");
  expectations.finalizerRemovalObserved("ns/other", "a");
  expect(expectations.expectedUIDs("ns/job")).toEqual(new Set(["a", "c"]));
  expectations.deleteExpectations("ns/job");
  expect(expectations.expectedUIDs("ns/job").size).toBe(0);
});

test("what was read stays as it was read", () => {
  const expectations = new FinalizerExpectations();
  expectations.expectFinalizersRemoved("ns/job", ["a"]);
  const read = expectations.expectedUIDs("ns/job");
  expectations.finalizerRemovalObserved("ns/job", "a");
  expect(read).toEqual(new Set(["a"]));
  expect(expectations.expectedUIDs("ns/job").size).toBe(0);
});
