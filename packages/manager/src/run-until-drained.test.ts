import { SimulatedClock } from "@kubewright/clock";
import { type Runnable, silentLogger } from "@kubewright/controller";
import { expect, test } from "vitest";

import { runUntilDrained } from "./run-until-drained.js";

/** Runs a controller that takes time to stop, with a support runnable, and records the order of events. */
function setUp({ stopsAfterMs, timeoutMs }: { stopsAfterMs: number; timeoutMs: number }): {
  clock: SimulatedClock;
  log: string[];
  stop: AbortController;
} {
  const clock = new SimulatedClock();
  const log: string[] = [];
  const note = (what: string): void => void log.push(`${clock.monotonic()} ${what}`);
  const part = (name: string, delayMs: number): Runnable => ({
    name,
    run: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      note(`${name} stopping`);
      await clock.sleep(delayMs);
      note(`${name} stopped`);
    },
  });
  const stop = new AbortController();
  const assembly = {
    controllers: [part("controller", stopsAfterMs)],
    support: [part("informers", 0)],
    timeoutMs,
    clock,
    logger: silentLogger,
  };
  runUntilDrained(assembly, stop.signal).then(
    () => note("drained"),
    (error: unknown) => note((error as Error).message),
  );
  return { clock, log, stop };
}

test("the runnables that controllers need stop only after the controllers", async () => {
  const { clock, log, stop } = setUp({ stopsAfterMs: 3_000, timeoutMs: 10_000 });
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(20_000);
  expect(log).toEqual([
    "1000 controller stopping",
    "4000 controller stopped",
    "4000 informers stopping",
    "4000 informers stopped",
    "4000 drained",
  ]);
  expect(clock.pendingTimers).toBe(0);
});

test("a controller that takes longer than the time-out to stop is an error", async () => {
  const { clock, log, stop } = setUp({ stopsAfterMs: 60_000, timeoutMs: 10_000 });
  stop.abort();
  await clock.advance(20_000);
  expect(log).toEqual(["0 controller stopping", "10000 controller shutdown timeout reached"]);
});

test("with a time-out of zero it may take as long as it likes", async () => {
  const { clock, log, stop } = setUp({ stopsAfterMs: 3_600_000, timeoutMs: 0 });
  stop.abort();
  await clock.advance(3_600_000);
  expect(log.at(-1)).toBe("3600000 drained");
});

test("a controller that fails ends everything with its error", async () => {
  const clock = new SimulatedClock();
  const failing: Runnable = { name: "failing", run: () => Promise.reject(new Error("broken")) };
  const assembly = { controllers: [failing], support: [], timeoutMs: 0, clock, logger: silentLogger };
  await expect(runUntilDrained(assembly, new AbortController().signal)).rejects.toThrow("broken");
});
