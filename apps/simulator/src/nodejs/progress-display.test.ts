import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { ProgressDisplay } from "./progress-display.js";

function display(
  delayMs: number,
  intervalMs: number,
): { clock: SimulatedClock; shown: ProgressDisplay; drawn: string[] } {
  const clock = new SimulatedClock();
  const drawn: string[] = [];
  const draw = (share: number, text: string): void => void drawn.push(`${clock.monotonic()} ${share} ${text}`);
  const erase = (): void => void drawn.push(`${clock.monotonic()} erased`);
  return { clock, drawn, shown: new ProgressDisplay({ draw, erase, delayMs, intervalMs }, clock) };
}

const DAY_MS = 86_400_000;

test("a short run shows nothing", async () => {
  const { clock, shown, drawn } = display(1_000, 200);
  shown.show(0.5, "1d of 2d", DAY_MS);
  await clock.advance(900);
  shown.clear();
  await clock.advance(60_000);
  expect(drawn).toEqual(["900 erased"]);
});

test("a long run shows the last progress, the speed and how to stop, also while no step ends", async () => {
  const { clock, shown, drawn } = display(10_000, 10_000);
  shown.show(0, "0s of 2d", 0);
  await clock.advance(9_000);
  shown.show(0.5, "1d of 2d", DAY_MS);
  await clock.advance(11_000);
  shown.clear();
  expect(drawn).toEqual([
    "10000 0.5 1d of 2d, 8,640 times real time, about 10s left; Ctrl-C stops",
    "20000 0.5 1d of 2d, 4,320 times real time, about 20s left; Ctrl-C stops",
    "20000 erased",
  ]);
});

test("a second run after the first one starts again", async () => {
  const { clock, shown, drawn } = display(1_000, 1_000);
  shown.show(1, "all");
  shown.clear();
  await clock.advance(5_000);
  shown.show(0.2, "20 plans");
  await clock.advance(1_000);
  expect(drawn).toEqual(["0 erased", "6000 0.2 20 plans, about 4s left; Ctrl-C stops"]);
});
