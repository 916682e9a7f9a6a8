import { CronExpressionParser } from "cron-parser";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { TimeZoneCache, parseSchedule } from "./index.js";

const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham"];
const YEAR_MS = 366 * 86_400_000;

/**
 * A field that both libraries interpret equally: a star, distinct values, or a range with a step that is not the whole
 * field. cron-parser rejects a repeated value, and treats a field with every value as a star, which Kubernetes does
 * not.
 */
function field(minimum: number, maximum: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: minimum, max: maximum });
  const range = fc
    .tuple(value, value, fc.integer({ min: 1, max: 9 }))
    .map(([one, other, step]) => [Math.min(one, other), Math.max(one, other), step] as const)
    .filter(([from, to, step]) => from > minimum || to < maximum || step > 1)
    .map(([from, to, step]) => `${from}-${to}/${step}`);
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 5 }).map((list) => list.join(","));
  return fc.oneof(fc.constant("*"), values, range);
}

const schedule = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((fields) => fields.join(" "));

const time = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2037, 0, 1) });

test("away from changes of the clock, cron-parser finds the same runs", () => {
  const zones = new TimeZoneCache();
  fc.assert(
    fc.property(schedule, fc.constantFrom(...ZONES), time, (text, timeZone, start) => {
      const ours = parseSchedule(text, { timeZone, zones });
      let after = start;
      for (let count = 0; count < 5; count++) {
        const run = ours.next(after);
        // Impossible dates. cron-parser may reject them immediately.
        if (run === undefined || run > after + YEAR_MS) return;
        const changes = zones.get(timeZone)!.transitions(after / 1000 - 86_400, run / 1000 + 86_400);
        if (changes.length > 0) return;
        const theirs = CronExpressionParser.parse(text, { currentDate: new Date(after), tz: timeZone });
        expect(theirs.next().getTime()).toBe(run);
        after = run;
      }
    }),
    { numRuns: 500 },
  );
});
