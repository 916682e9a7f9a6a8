import { expect, test } from "vitest";

import { parseSchedule } from "@kubewright/cron";

import { NEVER, mostRecentSlot, nextScheduleDelayMs, slotsBetween } from "./schedule-slots.js";

/** Parses `10:00`, `10:00:30`, `05T10:30` or a date in UTC; the default month is March 2026. */
function time(text: string): number {
  const [date, clock] = text.includes("T") || /^\d{4}-/.test(text) ? text.split("T") : ["02", text];
  const day = date!.length === 2 ? `2026-03-${date}` : date;
  const parts = (clock ?? "00:00").split(":");
  return Date.parse(`${day}T${parts.length === 2 ? `${clock ?? "00:00"}:00` : clock}Z`);
}

function seconds(text: string): number {
  const [, hours = "0", minutes = "0", rest = "0"] = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text)!;
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)) * 1000);
}

interface Case {
  readonly schedule: string;
  readonly last?: string;
  readonly deadline?: number;
  readonly now: string;
  readonly slot?: string;
  readonly missed?: "none" | "few" | "many";
  readonly requeue?: string;
}

const hourly = "0 * * * *";
const everyFive = "*/5 * * * *";
const minutely = "* * * * *";
const officeHours = "*/10 9-17 * * 1-5";

const cases: Record<string, Case> = {
  "1: before the first slot": { schedule: hourly, now: "09:59:45", requeue: "15.1s" },
  "2: at a slot": { schedule: hourly, now: "10:00:00", slot: "10:00", requeue: "1h0m0.1s" },
  "3: just after a slot": { schedule: hourly, now: "10:00:00.1", slot: "10:00", requeue: "1h0m0s" },
  "4: two slots due": { schedule: hourly, now: "11:00:00", slot: "11:00", missed: "few", requeue: "1h0m0.1s" },
  "5: slot started before": { schedule: hourly, last: "10:00", now: "10:00:00.1", requeue: "1h0m0s" },
  "6: six slots due": {
    schedule: everyFive,
    last: "10:00",
    now: "10:31",
    slot: "10:30",
    missed: "few",
    requeue: "4m0.1s",
  },
  "7: slot exactly where the window begins": {
    schedule: everyFive,
    last: "10:00",
    deadline: 60,
    now: "10:31",
    requeue: "4m0.1s",
  },
  "8: slot just inside the window": {
    schedule: everyFive,
    last: "10:00",
    deadline: 61,
    now: "10:31",
    slot: "10:30",
    requeue: "4m0.1s",
  },
  "9a: a deadline of zero never fires": { schedule: everyFive, last: "10:00", deadline: 0, now: "10:05:00.1" },
  "9b: a deadline of one second, in time": {
    schedule: everyFive,
    last: "10:00",
    deadline: 1,
    now: "10:05:00.1",
    slot: "10:05",
  },
  "9c: a deadline of one second, too late": { schedule: everyFive, last: "10:00", deadline: 1, now: "10:05:01.1" },
  "10: a hundred missed": { schedule: minutely, last: "10:00", now: "11:40:59", slot: "11:40", missed: "few" },
  "11: a hundred and one missed": { schedule: minutely, last: "10:00", now: "11:41:00", slot: "11:41", missed: "many" },
  "12: a hundred and one missed, most outside the window": {
    schedule: minutely,
    last: "10:00",
    deadline: 3600,
    now: "11:41:00",
    slot: "11:41",
    missed: "few",
  },
  "13a: irregular, still found": {
    schedule: officeHours,
    last: "06T15:00",
    now: "06T17:59:59",
    slot: "06T17:50",
    missed: "few",
  },
  "13b: irregular, overlooked": {
    schedule: officeHours,
    last: "06T15:00",
    now: "06T18:00:00",
    missed: "few",
    requeue: "63h0m0.1s",
  },
  "13c: irregular, overlooked the day after": {
    schedule: officeHours,
    last: "06T15:00",
    now: "07T10:00:00",
    missed: "many",
    requeue: "47h0m0.1s",
  },
  "14: last slots of the day overlooked": {
    schedule: "30 10,11,12 * * 1-5",
    last: "05T10:30",
    now: "06T16:30",
    missed: "few",
    requeue: "66h0m0.1s",
  },
  "15: first slot of the day": {
    schedule: "30 6-16/4 * * 1-5",
    last: "05T10:30",
    now: "06T10:31",
    slot: "06T10:30",
    missed: "few",
    requeue: "3h59m0.1s",
  },
  "16: monthly": { schedule: "0 0 1 * *", last: "2026-01-01", now: "2026-08-15", slot: "2026-08-01", missed: "few" },
  "17: weekly": {
    schedule: "0 12 * * 4",
    last: "05T12:00",
    now: "24T11:30",
    slot: "19T12:00",
    missed: "few",
    requeue: "48h30m0.1s",
  },
  "18: @every counts from creation": { schedule: "@every 1h", now: "10:59:30.1", slot: "10:59:30" },
  "19: @every counts from the last slot": {
    schedule: "@every 1h",
    last: "10:59:30",
    now: "15:10",
    slot: "14:59:30",
    missed: "few",
    requeue: "49m30.1s",
  },
  "20: @every with a shorter deadline never fires": {
    schedule: "@every 1h",
    last: "10:59:30",
    deadline: 10,
    now: "11:59:30.1",
  },
  "21: @every with a deadline as long": {
    schedule: "@every 1h",
    last: "10:59:30",
    deadline: 3600,
    now: "11:59:30.1",
    slot: "11:59:30",
  },
  "22: @every moves its phase to the deadline": {
    schedule: "@every 1h",
    last: "10:59:30",
    deadline: 7200,
    now: "15:10",
    slot: "15:10:00",
    missed: "few",
  },
  "24: last slot in the future": { schedule: hourly, last: "12:00", now: "10:30", requeue: "2h30m0.1s" },
};

for (const [title, { schedule, last, deadline, now, slot, missed = "none", requeue }] of Object.entries(cases)) {
  test(`slot and timer, ${title}`, () => {
    const search = {
      schedule: parseSchedule(schedule),
      createdMs: time("09:59:30"),
      lastScheduleMs: last === undefined ? undefined : time(last),
      startingDeadlineSeconds: deadline,
    };
    const recent = mostRecentSlot(search, time(now));
    expect(recent?.slotMs).toBe(slot === undefined ? undefined : time(slot));
    expect(recent?.missed).toBe(missed);
    const delayMs = nextScheduleDelayMs(search, time(now));
    expect(delayMs).toBe(requeue === undefined ? delayMs : seconds(requeue));
  });
}

test("slot and timer, 23: a schedule that never fires is an error, and its timer is due at once", () => {
  const search = { schedule: parseSchedule("59 23 31 2 *"), createdMs: time("09:59:30") };
  expect(mostRecentSlot(search, time("10:00"))).toBeUndefined();
  expect(nextScheduleDelayMs(search, time("10:00"))).toBe(NEVER);
});

test("a schedule whose slots end is an error once there is no second one, and the search for the last one ends", () => {
  const ending = (...slots: number[]) => ({
    timeZone: "UTC",
    next: (after: number) => slots.find((slot) => slot > after),
  });
  expect(mostRecentSlot({ schedule: ending(1e12), createdMs: 0 }, 1e12)).toBeUndefined();
  const search = { schedule: ending(1e12, 1e12 + 60_000, 1e12 + 120_000), createdMs: 0 };
  const recent = mostRecentSlot(search, 1e12 + 120_000);
  expect(recent).toEqual({ earliestMs: 0, slotMs: 1e12 + 120_000, missed: "few", nextMs: NEVER });
});

test("listed slots are counted exactly up to the limit, and by their pace beyond it", () => {
  const schedule = parseSchedule(minutely);
  const few = slotsBetween(schedule, time("10:00"), time("10:03"));
  expect(few).toEqual({ count: 3, exact: true, slotsMs: [time("10:01"), time("10:02"), time("10:03")] });
  const hundred = slotsBetween(schedule, time("10:00"), time("11:40"));
  expect([hundred.count, hundred.exact, hundred.slotsMs.length]).toEqual([100, true, 100]);
  const year = slotsBetween(schedule, time("2026-01-01"), time("2027-01-01"));
  expect([year.count, year.exact, year.slotsMs.length]).toEqual([365 * 1440, false, 100]);
});
