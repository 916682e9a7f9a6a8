import { formatTime } from "@kubewright/api";

import { isoTime } from "../time/iso-time.js";

const HOUR_MS = 3_600_000;

/** Returns the start of a window that no flag, scenario or cluster determines: the first full hour after a time. */
export function nextFullHour(nowMs: number): number {
  return (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
}

/** Returns the flag that repeats a start: `--start 2026-01-01T00:00:00Z`. */
export function startFlag(startMs: number): string {
  return `--start ${startTime(startMs)}`;
}

/** Returns the value of `--start` for a start. */
export function startTime(startMs: number): string {
  return startMs % 1000 === 0 ? formatTime(startMs) : isoTime(startMs);
}

/** Returns the part of a title that names the flag; empty for a given start. */
export function repeatRemark(flag: string | undefined): string {
  return flag === undefined ? "" : `; repeat with ${flag}`;
}
