import { formatDuration } from "@kubewright/clock";

import type { Draw } from "../generate/draw.js";
import { durationText } from "../generate/duration-text.js";
import { durationOf } from "../scenario/scenario-times.js";

/** Converts a clock change that the schema permits to milliseconds. */
export function jumpOf(jump: string): number {
  return (jump.startsWith("-") ? -1 : 1) * durationOf(jump.slice(1));
}

export function direction(byMs: number): string {
  return `${byMs < 0 ? "back" : "forward"} by ${formatDuration(Math.abs(byMs))}`;
}

export function drawJump(draw: Draw): string {
  const sign = draw.fork("sign").pick(["+", "-"]);
  const byMs = draw.fork("by").weighted([
    [draw.fork("some").delayMs(), 70],
    [draw.fork("hours").integer(1, 3) * 3_600_000, 30],
  ]);
  return `${sign}${durationText(Math.max(1_000, byMs))}`;
}
