import { scaleUtc } from "d3-scale";
import { utcFormat } from "d3-time-format";

import type { TimeScale } from "./time-scale.js";
import type { ZonedTime } from "./zoned-time.js";

export interface Tick {
  readonly atMs: number;
  readonly label: string;
}

export interface TimeTicks {
  readonly fine: readonly Tick[];
  /** The days, months or years that contain the fine ticks. The first may begin before the window. */
  readonly coarse: readonly Tick[];
}

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const TICK_PX = 84;

/** Returns ticks for a time axis, at round local times of a zone. */
export function timeTicks({ fromMs, toMs, width }: TimeScale, zone: ZonedTime): TimeTicks {
  const wallScale = scaleUtc().domain([zone.wall(fromMs), zone.wall(toMs)]);
  const walls = wallScale.ticks(Math.max(2, width / TICK_PX));
  const stepMs = walls.length > 1 ? walls[1]!.getTime() - walls[0]!.getTime() : DAY;
  const format = utcFormat(
    stepMs < MINUTE
      ? "%H:%M:%S"
      : stepMs < DAY
        ? "%H:%M"
        : stepMs < 27 * DAY
          ? "%a %-d"
          : stepMs < 360 * DAY
            ? "%b"
            : "%Y",
  );
  const [unit, coarseFormat] =
    stepMs < DAY
      ? (["day", "%a %-d %B %Y"] as const)
      : stepMs < 27 * DAY
        ? (["month", "%B %Y"] as const)
        : (["year", "%Y"] as const);
  const fine = walls.flatMap((wall): Tick[] => {
    const atMs = zone.instant(wall.getTime());
    return atMs === undefined ? [] : [{ atMs, label: format(wall) }];
  });
  const label = utcFormat(coarseFormat);
  const coarse: Tick[] = [];
  const end = zone.wall(toMs).getTime();
  for (
    let wall = startOf(zone.wall(fromMs), unit);
    wall.getTime() <= end && coarse.length < MAX_COARSE;
    wall = next(wall, unit)
  ) {
    // Some zones set their clocks forward at midnight.
    const atMs = zone.instant(wall.getTime()) ?? zone.instant(wall.getTime() + 60 * MINUTE);
    if (atMs !== undefined) coarse.push({ atMs, label: label(wall) });
  }
  return { fine, coarse };
}

const MAX_COARSE = 200;

type Unit = "day" | "month" | "year";

function startOf(wall: Date, unit: Unit): Date {
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  return new Date(Date.UTC(year, unit === "year" ? 0 : month, unit === "day" ? day : 1));
}

function next(wall: Date, unit: Unit): Date {
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  if (unit === "day") return new Date(Date.UTC(year, month, day + 1));
  return unit === "month" ? new Date(Date.UTC(year, month + 1, 1)) : new Date(Date.UTC(year + 1, 0, 1));
}
