import { expect, test } from "vitest";

import { describeSchedule, parseSchedule } from "./index.js";

test.each([
  ["0 * * * *", "every hour, on the hour"],
  ["@hourly", "every hour, on the hour"],
  ["5 * * * *", "every hour, at 5 minutes past"],
  ["1 * * * *", "every hour, at 1 minute past"],
  ["* * * * *", "every minute"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0,15,30,45 * * * *", "every 15 minutes"],
  ["5/15 * * * *", "every 15 minutes from 00:05"],
  // The interval starts again in every hour.
  ["*/7 * * * *", "every hour, at 0, 7, 14, 21, 28, 35, 42, 49 and 56 minutes past"],
  ["0-9 * * * *", "every minute from :00 to :09 of every hour"],
  ["30 2 * * *", "every day at 02:30"],
  ["@daily", "every day at 00:00"],
  ["0 9,13,17 * * *", "every 4 hours from 09:00 to 17:00"],
  ["0 9,12 * * *", "every day at 09:00 and 12:00"],
  ["0 */6 * * *", "every 6 hours from 00:00"],
  ["15 1/6 * * *", "every 6 hours from 01:15"],
  // Four hours pass between the last and the first.
  ["0 */5 * * *", "every 5 hours from 00:00 to 20:00"],
  ["*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:45, Monday to Friday"],
  ["0 8-18/2 * * *", "every 2 hours from 08:00 to 18:00"],
  ["* 3 * * *", "every minute from 03:00 to 03:59"],
  ["0,10 1,3,4,9 * * *", "every day at 0 and 10 minutes past, in the hours 01:00, 03:00, 04:00 and 09:00"],
  ["@weekly", "at 00:00 on Sundays"],
  ["0 9 * * sat,sun", "at 09:00 on Saturdays and Sundays"],
  ["0 9 * * 0-2", "at 09:00 on Mondays, Tuesdays and Sundays"],
  ["@monthly", "at 00:00 on day 1 of the month"],
  ["0 0 1,15 * *", "at 00:00 on days 1 and 15 of the month"],
  ["@yearly", "at 00:00 on day 1 of the month, in January"],
  ["0 0 * 6-8 *", "every day at 00:00, from June to August"],
  // Kubernetes runs when either of two restricted day fields matches.
  ["0 9 1 * 1", "at 09:00 on day 1 of the month, and on Mondays as well"],
  ["0 9 1 * 1-5", "at 09:00 on day 1 of the month, and Monday to Friday as well"],
  // A step of 1 restricts nothing, and a larger one does.
  ["0 9 */1 * 1", "at 09:00 on Mondays"],
  ["0 9 */2 * *", "at 09:00 on every 2nd day of the month from day 1 to day 31"],
  ["@every 1h30m", "every 1h 30m"],
  ["TZ=Europe/Berlin 0 3 * * *", "every day at 03:00 (Europe/Berlin)"],
])("%s is %s", (schedule, words) => {
  expect(describeSchedule(schedule)).toBe(words);
});

test("what is no schedule, or has no short words, has no words", () => {
  for (const schedule of ["", "often", "60 * * * *", "@every soon", "TZ=x", ", * * * *", "1-20,22-50 * * * *"])
    expect(describeSchedule(schedule)).toBeUndefined();
});

test("schedules with equal words run at equal times", () => {
  const minutes = ["*", "0", "5", "*/15", "5/15", "*/7", "0-9", "0,30", "1", "0,30,45", "*/2", "1-59/2"];
  const hours = ["*", "0", "9-17", "*/6", "1/6", "*/5", "9,13,17", "0,12", "8-18/2", "1,3,4,9", "23"];
  const dates = ["*", "1", "1,15", "*/2", "1-7", "*/1", "1-31", "31"];
  const weekdays = ["*", "1", "1-5", "0,6", "0-2", "*/2", "0-6"];
  const start = Date.UTC(2026, 0, 30, 22, 10);
  const runsOf = (text: string): string => {
    const schedule = parseSchedule(text);
    const runs: (number | undefined)[] = [];
    for (let at: number | undefined = start; runs.length < 14 && at !== undefined; runs.push(at))
      at = schedule.next(at);
    // With days far apart, the two ways to combine the day fields differ.
    for (let month = 1; month < 12; month++) runs.push(schedule.next(start + month * 29.3 * 86_400_000));
    return runs.join();
  };
  const known = new Map<string, { readonly text: string; readonly runs: string }>();
  const different: string[] = [];
  let described = 0;
  for (const minute of minutes)
    for (const hour of hours)
      for (const date of dates)
        for (const weekday of weekdays) {
          const text = `${minute} ${hour} ${date} * ${weekday}`;
          const words = describeSchedule(text);
          if (words === undefined) continue;
          described++;
          const runs = runsOf(text);
          const same = known.get(words);
          if (same === undefined) known.set(words, { text, runs });
          else if (same.runs !== runs) different.push(`${same.text} and ${text}: ${words}`);
        }
  expect(different).toEqual([]);
  expect(described).toBeGreaterThan(5_000);
});
