import * as fc from "fast-check";
import { expect, test, vi } from "vitest";

import { type Schedule, ScheduleError, TimeZoneCache, parseSchedule } from "./index.js";

/** Number of texts in the fuzz test; the other tests scale with it. Set CRON_FUZZ_RUNS=1000000 for a long run. */
const FUZZ_RUNS = Number(process.env["CRON_FUZZ_RUNS"] ?? 20_000);

vi.setConfig({ testTimeout: Math.max(20_000, FUZZ_RUNS) });

const ZONES = [
  "UTC",
  "America/New_York",
  "America/Sao_Paulo",
  "America/Havana",
  "America/Iqaluit",
  "Europe/Berlin",
  "Europe/Dublin",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Asia/Beirut",
  "Asia/Kathmandu",
  "Asia/Gaza",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Pacific/Chatham",
  "Pacific/Apia",
];
const zones = new TimeZoneCache();

interface FieldText {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly star: boolean;
}

/** A valid field, with its allowed values calculated independently. */
function fieldText(minimum: number, maximum: number): fc.Arbitrary<FieldText> {
  const range = (start: number, end: number, step = 1) => {
    const values: number[] = [];
    for (let value = start; value <= end; value += step) values.push(value);
    return values;
  };
  const value = fc.integer({ min: minimum, max: maximum });
  const step = fc.integer({ min: 1, max: maximum + 5 });
  const item = fc.oneof(
    fc.constant({ text: "*", values: range(minimum, maximum), star: true }),
    step.map((by) => ({ text: `*/${by}`, values: range(minimum, maximum, by), star: by === 1 })),
    value.map((one) => ({ text: `${one}`, values: [one], star: false })),
    fc
      .tuple(value, step)
      .map(([from, by]) => ({ text: `${from}/${by}`, values: range(from, maximum, by), star: false })),
    fc.tuple(value, value, step).map(([one, other, by]) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      return { text: `${from}-${to}/${by}`, values: range(from, to, by), star: false };
    }),
  );
  return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(","),
    values: new Set(items.flatMap(({ values }) => values)),
    star: items.some(({ star }) => star),
  }));
}

interface FieldsText {
  readonly text: string;
  readonly matches: (wall: Date) => boolean;
  readonly fields: readonly [FieldText, FieldText, FieldText, FieldText, FieldText];
}

const anyDay = fc.constant<FieldText>({
  text: "*",
  values: new Set(Array.from({ length: 32 }, (_, day) => day)),
  star: true,
});
const fieldsText = fc
  .tuple(
    fieldText(0, 59),
    fieldText(0, 23),
    fc.oneof(fieldText(1, 31), anyDay),
    fc.oneof(fieldText(1, 12), anyDay),
    fc.oneof(fieldText(0, 6), anyDay),
  )
  .map((fields): FieldsText => ({ text: fields.map(({ text }) => text).join(" "), matches: matcher(fields), fields }));

function matcher([minute, hour, dayOfMonth, month, dayOfWeek]: FieldsText["fields"]): (wall: Date) => boolean {
  return (wall) => {
    const first = dayOfMonth.values.has(wall.getUTCDate());
    const second = dayOfWeek.values.has(wall.getUTCDay());
    return (
      minute.values.has(wall.getUTCMinutes()) &&
      hour.values.has(wall.getUTCHours()) &&
      month.values.has(wall.getUTCMonth() + 1) &&
      (dayOfMonth.star || dayOfWeek.star ? first && second : first || second)
    );
  };
}

const time = fc.integer({ min: Date.UTC(1971, 0, 1), max: Date.UTC(2060, 0, 1) });

/** A time within two days of a change of the zone's offset. */
const timeOfChange = fc
  .tuple(fc.constantFrom(...ZONES.slice(1)), time, fc.integer({ min: -172_800, max: 10_000 }))
  .chain(([timeZone, around, distance]) => {
    const changes = zones.get(timeZone)!.transitions(around / 1000 - 2 * 366 * 86_400, around / 1000);
    const at = changes.at(-1)?.at ?? Math.floor(around / 1000);
    return fc.constant({ timeZone, after: (at + distance) * 1000 });
  });

const wallAt = (timeZone: string, instantMs: number) => new Date(zones.get(timeZone)!.wallAt(instantMs / 1000) * 1000);

test("parsing throws ScheduleError or nothing, and next is later or undefined, for any text", () => {
  const crumbs = fc.constantFrom(
    ..."* ? , - / 0 1 5 59 60 31 12 @every @daily 1h 1.5s TZ= CRON_TZ= UTC Europe/Rome Local .. mon JAN + _ é".split(
      " ",
    ),
    " ",
    " ",
    "\t",
    "\u0085",
    "\ud800",
    "\u{1f600}",
    "99999999999999999999",
  );
  const text = fc.oneof(
    { weight: 6, arbitrary: fc.array(crumbs, { maxLength: 14 }).map((parts) => parts.join("")) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.array(crumbs, { maxLength: 3 }), { minLength: 5, maxLength: 5 })
        .map((fields) => fields.map((parts) => parts.join("")).join(" ")),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: fieldsText.map((fields) => fields.text) },
  );
  fc.assert(
    fc.property(text, time, (input, after) => {
      const outcome = parseOrError(input);
      expect(outcome instanceof ScheduleError || (outcome.next(after) ?? Infinity) > after).toBe(true);
    }),
    { numRuns: FUZZ_RUNS },
  );
});

test("away from changes of the clock, next is the first minute whose wall time matches", () => {
  fc.assert(
    fc.property(fieldsText, fc.constantFrom(...ZONES), time, ({ text, matches }, timeZone, after) => {
      const next = parseSchedule(text, { timeZone, zones }).next(after);
      const horizon = after + 10 * 86_400_000;
      fc.pre(zones.get(timeZone)!.transitions(after / 1000 - 86_400, horizon / 1000).length === 0);
      let expected = (Math.floor(after / 60_000) + 1) * 60_000;
      while (expected <= horizon && !matches(wallAt(timeZone, expected))) expected += 60_000;
      expect(expected <= horizon ? next === expected : (next ?? Infinity) > horizon).toBe(true);
    }),
    { numRuns: Math.ceil(FUZZ_RUNS * 0.015) },
  );
});

test("next goes forward, and only a change of the clock makes it run at a wall time that does not match", () => {
  fc.assert(
    fc.property(fieldsText, timeOfChange, ({ text, matches }, { timeZone, after }) => {
      const next = parseSchedule(text, { timeZone, zones }).next(after);
      if (next === undefined) return;
      const clockChanged = () => zones.get(timeZone)!.transitions(after / 1000 - 86_400, next / 1000).length > 0;
      expect(next > after && next % 60_000 === 0 && (matches(wallAt(timeZone, next)) || clockChanged())).toBe(true);
    }),
    { numRuns: Math.ceil(FUZZ_RUNS * 0.1) },
  );
});

test("around changes of the clock, next is where upstream's steps lead, taken one by one", () => {
  fc.assert(
    fc.property(fieldsText, timeOfChange, ({ text, fields }, { timeZone, after }) => {
      const actual = parseSchedule(text, { timeZone, zones }).next(after);
      const expected = nextByTheBook(fields, (instant) => zones.get(timeZone)!.offsetAt(instant), after);
      // Two deliberate differences: this package skips a missing day, and never goes back in time.
      const differs = expected === "endless" || (expected ?? Infinity) <= after;
      expect(differs ? (actual ?? Infinity) > after : actual === expected).toBe(true);
    }),
    { numRuns: Math.ceil(FUZZ_RUNS * 0.1) },
  );
});

test("@every keeps its phase in any zone", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400_000 }), fc.constantFrom(...ZONES), time, (seconds, timeZone, after) => {
      const schedule = parseSchedule(`@every ${seconds}s`, { timeZone, zones });
      let run = after;
      for (let index = 1; index <= 5; index++) {
        run = schedule.next(run)!;
        expect(run).toBe(Math.floor(after / 1000) * 1000 + index * seconds * 1000);
      }
    }),
    { numRuns: Math.ceil(FUZZ_RUNS * 0.015) },
  );
});

/** Returns the schedule or its ScheduleError. Rethrows any other error. */
function parseOrError(text: string): Schedule | ScheduleError {
  try {
    return parseSchedule(text, { zones });
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
}

/** The search as upstream describes it: one unit at a time, with `Date`, without optimizations. */
function nextByTheBook(
  [minute, hour, dayOfMonth, month, dayOfWeek]: FieldsText["fields"],
  offsetAt: (instant: number) => number,
  afterMs: number,
): number | "endless" | undefined {
  const wallOf = (instant: number) => new Date((instant + offsetAt(instant)) * 1000);
  const instantOf = (...parts: [number, number, number, number?, number?, number?]) => {
    const wall = Date.UTC(...parts) / 1000;
    return wall - offsetAt(wall - offsetAt(wall));
  };
  const dayMatches = (wall: Date) => {
    const first = dayOfMonth.values.has(wall.getUTCDate());
    const second = dayOfWeek.values.has(wall.getUTCDay());
    return dayOfMonth.star || dayOfWeek.star ? first && second : first || second;
  };

  let instant = Math.floor(afterMs / 1000) + 1;
  let wall = wallOf(instant);
  const go = (to: number) => (wall = wallOf((instant = to)));
  const at = () =>
    [
      wall.getUTCFullYear(),
      wall.getUTCMonth(),
      wall.getUTCDate(),
      wall.getUTCHours(),
      wall.getUTCMinutes(),
      wall.getUTCSeconds(),
    ] as const;
  const limit = wall.getUTCFullYear() + 5;
  let moved = false;
  const moveOnce = (to: () => number) => {
    if (!moved) go(to());
    moved = true;
  };

  wrap: while (wall.getUTCFullYear() <= limit) {
    while (!month.values.has(wall.getUTCMonth() + 1)) {
      moveOnce(() => instantOf(at()[0], at()[1], 1));
      const [y, m, d, h, min, s] = at();
      go(instantOf(y, m + 1, d, h, min, s));
      if (wall.getUTCMonth() === 0) continue wrap;
    }
    while (!dayMatches(wall)) {
      moveOnce(() => instantOf(at()[0], at()[1], at()[2]));
      const [y, m, d, h, min, s] = at();
      const before = instant;
      go(instantOf(y, m, d + 1, h, min, s));
      const hours = wall.getUTCHours();
      if (hours !== 0) go(instant + (hours > 12 ? 24 - hours : -hours) * 3600);
      if (instant <= before) return "endless";
      if (wall.getUTCDate() === 1) continue wrap;
    }
    while (!hour.values.has(wall.getUTCHours())) {
      moveOnce(() => instantOf(at()[0], at()[1], at()[2], at()[3]));
      go(instant + 3600);
      if (wall.getUTCHours() === 0) continue wrap;
    }
    while (!minute.values.has(wall.getUTCMinutes())) {
      moveOnce(() => Math.floor(instant / 60) * 60);
      go(instant + 60);
      if (wall.getUTCMinutes() === 0) continue wrap;
    }
    while (wall.getUTCSeconds() !== 0) {
      moved = true;
      go(instant + 1);
      if (wall.getUTCSeconds() === 0) continue wrap;
    }
    return instant * 1000;
  }
  return undefined;
}
