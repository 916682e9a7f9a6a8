import { StatusError } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { refusal } from "../test/scripted-transport.js";
import { defaultBackoff, retryOnConflict } from "./retry-on-conflict.js";

const conflict = (): StatusError => new StatusError(refusal(409, "Conflict", "the object has been modified"));
const random = { ...seededRandom(1), next: () => 0, uint32: () => 0, fork: () => random };

async function attempt(outcomes: (Error | string)[], options = {}) {
  const clock = new SimulatedClock();
  const at: number[] = [];
  const result = retryOnConflict(
    async () => {
      at.push(clock.monotonic());
      const outcome = outcomes[Math.min(at.length, outcomes.length) - 1]!;
      if (typeof outcome === "string") return outcome;
      throw outcome;
    },
    { clock, random, ...options },
  ).catch((error: unknown) => error);
  await clock.advance(10_000);
  return { result: await result, at };
}

test("conflicts are retried until a call succeeds", async () => {
  expect(await attempt([conflict(), conflict(), "done"])).toEqual({ result: "done", at: [0, 10, 20] });
});

test("the last conflict is thrown when the attempts are used up", async () => {
  const { result, at } = await attempt([conflict()]);
  expect(at).toEqual([0, 10, 20, 30, 40]);
  expect(result).toBeInstanceOf(StatusError);
});

test("defaultBackoff pauses 10, 50 and 250 ms", async () => {
  expect((await attempt([conflict()], { backoff: defaultBackoff })).at).toEqual([0, 10, 60, 310]);
});

test("any other error is thrown at once", async () => {
  const { result, at } = await attempt([new Error("forbidden")]);
  expect(at).toEqual([0]);
  expect(result).toEqual(new Error("forbidden"));
});
