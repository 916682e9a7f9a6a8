import * as fc from "fast-check";
import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { ControllerExpectations } from "./controller-expectations.js";

const KEY = "default/pi";

function setUp() {
  const clock = new SimulatedClock();
  return { clock, expectations: new ControllerExpectations({ clock }) };
}

test("an owner without a record is satisfied", () => {
  const { expectations } = setUp();
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(expectations.getExpectations(KEY)).toBeUndefined();
});

test("three expected creations are satisfied by three observations, and a fourth does no harm", () => {
  const { expectations } = setUp();
  expectations.expectCreations(KEY, 3);
  for (let seen = 0; seen < 3; seen++) {
    expect(expectations.satisfiedExpectations(KEY)).toBe(false);
    expectations.creationObserved(KEY);
  }
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expectations.creationObserved(KEY);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: -1, del: 0 });
});

test("an observation before the expectation is lost, and the expectation expires only after five minutes", async () => {
  const { clock, expectations } = setUp();
  expectations.creationObserved(KEY);
  expectations.expectCreations(KEY, 1);
  await clock.advance(300_000);
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
  await clock.advance(1);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("an owner can be looked at again when its expectation expires", async () => {
  const { clock, expectations } = setUp();
  expect(expectations.satisfiedInMs(KEY)).toBe(0);
  expectations.expectCreations(KEY, 1);
  await clock.advance(100_000);
  const waitMs = expectations.satisfiedInMs(KEY);
  await clock.advance(waitMs - 1);
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
  await clock.advance(1);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(expectations.satisfiedInMs(KEY)).toBe(0);
});

test("expecting creations forgets expected deletions, and the other way round", () => {
  const { expectations } = setUp();
  expectations.expectDeletions(KEY, 2);
  expectations.expectCreations(KEY, 1);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 1, del: 0 });
  expectations.expectDeletions(KEY, 2);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 0, del: 2 });
  expectations.deletionObserved(KEY);
  expectations.deletionObserved(KEY);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("raising and lowering never make a record, nor renew one", async () => {
  const { clock, expectations } = setUp();
  expectations.raiseExpectations(KEY, 1, 1);
  expectations.lowerExpectations(KEY, 1, 1);
  expect(expectations.getExpectations(KEY)).toBeUndefined();
  expectations.setExpectations(KEY, 1, 0);
  await clock.advance(200_000);
  expectations.raiseExpectations(KEY, 1, 2);
  expect(expectations.getExpectations(KEY)).toEqual({ add: 2, del: 2, timestampMs: 0 });
  await clock.advance(100_001);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("after expiry a late observation still counts, and the next expectation starts fresh", async () => {
  const { clock, expectations } = setUp();
  expectations.expectCreations(KEY, 2);
  await clock.advance(300_001);
  expectations.creationObserved(KEY);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 1 });
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expectations.expectCreations(KEY, 1);
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
});

test("a deleted record frees an owner re-created under the same name", () => {
  const { expectations } = setUp();
  expectations.expectCreations(KEY, 2);
  expectations.deleteExpectations(KEY);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("expiry is monotonic time: setting the wall clock changes nothing", () => {
  const { clock, expectations } = setUp();
  expectations.expectCreations(KEY, 1);
  clock.jump(3_600_000);
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
});

test("keys are independent", () => {
  const { expectations } = setUp();
  expectations.expectCreations("default/a", 1);
  expect(expectations.satisfiedExpectations("default/b")).toBe(true);
});

test("counts that would block an owner are refused with its key", () => {
  const expectations = new ControllerExpectations({ clock: new SimulatedClock() });
  expect(() => expectations.expectCreations("default/pi", Number.NaN)).toThrow(
    "expectations of default/pi: NaN is not a whole number",
  );
  expect(() => expectations.expectDeletions("default/pi", 1.5)).toThrow("1.5 is not a whole number");
  expect(() => expectations.expectDeletions("default/pi", -1)).toThrow(
    "expectations of default/pi: 0 creations, -1 deletions: not below zero",
  );
  expectations.expectCreations("default/pi", 1);
  expect(() => expectations.raiseExpectations("default/pi", Infinity, 0)).toThrow("Infinity is not a whole number");
  expect(expectations.getExpectations("default/pi")).toMatchObject({ add: 1, del: 0 });
  expect(expectations.satisfiedExpectations("nobody/asked")).toBe(true);
});

test("for any calls the counts equal a plain model, and satisfied means nothing outstanding or five minutes passed", async () => {
  const count = fc.integer({ min: 0, max: 3 });
  const call = fc.oneof(
    fc.tuple(
      fc.constantFrom("setExpectations" as const, "lowerExpectations" as const, "raiseExpectations" as const),
      count,
      count,
    ),
    fc.tuple(
      fc.constantFrom("creationObserved" as const, "deletionObserved" as const, "deleteExpectations" as const),
      count,
      count,
    ),
    fc.tuple(fc.constant("advance" as const), fc.integer({ min: 0, max: 200_000 }), count),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
      const clock = new SimulatedClock();
      const expectations = new ControllerExpectations({ clock });
      let model: { add: number; del: number; at: number } | undefined;
      for (const [name, a, b] of calls) {
        if (name === "advance") await clock.advance(a);
        else if (name === "setExpectations") {
          expectations.setExpectations("key", a, b);
          model = { add: a, del: b, at: clock.monotonic() };
        } else if (name === "deleteExpectations") {
          expectations.deleteExpectations("key");
          model = undefined;
        } else {
          if (name === "lowerExpectations" || name === "raiseExpectations") expectations[name]("key", a, b);
          else expectations[name]("key");
          const [add, del] = {
            lowerExpectations: [-a, -b],
            raiseExpectations: [a, b],
            creationObserved: [-1, 0],
            deletionObserved: [0, -1],
          }[name] as [number, number];
          if (model !== undefined) model = { ...model, add: model.add + add, del: model.del + del };
        }
        const outstanding = model !== undefined && (model.add > 0 || model.del > 0);
        const expired = model !== undefined && clock.monotonic() - model.at > 300_000;
        expect(expectations.satisfiedExpectations("key")).toBe(!outstanding || expired);
      }
    }),
  );
});
