import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { ScheduleError, TimeZoneCache, parseSchedule } from "./index.js";

interface NextCase {
  readonly schedule: string;
  readonly timeZone: string;
  /** Can have nanoseconds. */
  readonly after: string;
  readonly next: readonly string[];
}

interface InvalidCase {
  readonly schedule: string;
  readonly error: string;
}

test("the next six runs are those of the library Kubernetes uses", () => {
  const cases = readLines<NextCase>("robfig-next.jsonl");
  const zones = new TimeZoneCache();
  const wrong: unknown[] = [];
  for (const { schedule: text, timeZone, after, next } of cases) {
    const schedule = parseSchedule(text, { timeZone, zones });
    const runs: string[] = [];
    let time: number | undefined = Date.parse(after);
    while (runs.length < 6 && (time = schedule.next(time)) !== undefined)
      runs.push(new Date(time).toISOString().replace(".000Z", "Z"));
    if (runs.join() !== next.join()) wrong.push({ text, timeZone, after, next, runs });
  }
  expect(wrong).toEqual([]);
  expect(cases.length).toBe(3021);
});

test("what the library Kubernetes uses refuses is refused with the same message", () => {
  const cases = readLines<InvalidCase>("robfig-invalid.jsonl");
  const messages = cases.map(({ schedule }) => {
    try {
      parseSchedule(schedule);
    } catch (error) {
      return { schedule, error: error instanceof ScheduleError ? error.message : String(error) };
    }
    return { schedule, error: "accepted" };
  });
  expect(messages).toEqual(cases);
  expect(cases.length).toBe(43);
});

function readLines<T>(name: string): T[] {
  const text = readFileSync(new URL(`../../../conformance/cron/${name}`, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
