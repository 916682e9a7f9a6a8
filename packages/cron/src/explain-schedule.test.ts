import { expect, test } from "vitest";

import { ScheduleError, explainNextRuns, explainSchedule } from "./index.js";

const at = (time: string) => Date.parse(time);
const HOUR_MS = 3_600_000;

function explain(text: string, timeZone: string, from: string, to: string, limit?: number) {
  return explainSchedule(text, { timeZone, fromMs: at(from), toMs: at(to), ...(limit === undefined ? {} : { limit }) });
}

test("a run that falls into a gap is named by its wall time", () => {
  const { runs, transitions } = explain("30 2 * * *", "America/New_York", "2024-03-09T00:00Z", "2024-03-12T00:00Z");
  expect(runs).toEqual([at("2024-03-09T07:30Z"), at("2024-03-11T06:30Z")]);
  expect(transitions).toEqual([
    {
      kind: "gap",
      atMs: at("2024-03-10T07:00Z"),
      offsetBeforeMs: -5 * HOUR_MS,
      offsetAfterMs: -4 * HOUR_MS,
      skipped: ["2024-03-10T02:30"],
      repeated: [],
      misplaced: [],
    },
  ]);
});

test("a run that comes twice is named by its second time", () => {
  const { transitions } = explain("30 1,3 * * *", "America/New_York", "2024-11-02T00:00Z", "2024-11-05T00:00Z");
  expect(transitions).toEqual([
    {
      kind: "overlap",
      atMs: at("2024-11-03T06:00Z"),
      offsetBeforeMs: -4 * HOUR_MS,
      offsetAfterMs: -5 * HOUR_MS,
      skipped: [],
      repeated: [at("2024-11-03T06:30Z")],
      misplaced: [],
    },
  ]);
});

test("a change of the clock that touches no run is listed without effect", () => {
  const { transitions } = explain("0 12 * * *", "Europe/Berlin", "2024-01-01T00:00Z", "2025-01-01T00:00Z");
  expect(transitions.map(({ kind, skipped, repeated, misplaced }) => ({ kind, skipped, repeated, misplaced }))).toEqual(
    [
      { kind: "gap", skipped: [], repeated: [], misplaced: [] },
      { kind: "overlap", skipped: [], repeated: [], misplaced: [] },
    ],
  );
});

test("a missing midnight can cost a run later on the day, or let one through on the wrong day", () => {
  const beirut = explain("30 5 31 3 *", "Asia/Beirut", "2024-01-01T00:00Z", "2024-12-01T00:00Z");
  expect(beirut.runs).toEqual([]);
  expect(beirut.transitions[0]).toMatchObject({ kind: "gap", skipped: ["2024-03-31T05:30"] });

  const saoPaulo = explain("30 5 * * 6", "America/Sao_Paulo", "2018-11-03T09:00Z", "2018-11-11T00:00Z");
  expect(saoPaulo.runs).toEqual([at("2018-11-04T07:30Z"), at("2018-11-10T07:30Z")]);
  expect(saoPaulo.transitions).toMatchObject([{ kind: "gap", misplaced: [at("2018-11-04T07:30Z")] }]);
});

test("a missing midnight on the first of a month lets runs through in a month that does not match", () => {
  const casablanca = explain("0 12 12 1-5 *", "Africa/Casablanca", "2008-05-31T12:00Z", "2008-12-31T00:00Z");
  expect(casablanca.runs).toEqual([at("2008-06-12T11:00Z")]);
  expect(casablanca.transitions[0]).toMatchObject({ kind: "gap", skipped: [], misplaced: [at("2008-06-12T11:00Z")] });
});

test("a day that a zone does not have skips all its runs", () => {
  const { runs, transitions } = explain("0 */12 * * *", "Pacific/Apia", "2011-12-29T12:00Z", "2011-12-31T00:00Z");
  expect(runs).toEqual([at("2011-12-29T22:00Z"), at("2011-12-30T10:00Z"), at("2011-12-30T22:00Z")]);
  expect(transitions).toMatchObject([{ kind: "gap", skipped: ["2011-12-30T00:00", "2011-12-30T12:00"] }]);
});

test("the window begins after fromMs and ends with toMs", () => {
  expect(explain("0 * * * *", "UTC", "2024-01-01T00:00Z", "2024-01-01T02:00Z")).toEqual({
    timeZone: "UTC",
    runs: [at("2024-01-01T01:00Z"), at("2024-01-01T02:00Z")],
    untilMs: at("2024-01-01T02:00Z"),
    transitions: [],
  });
  const cut = explain("30 1 * * *", "America/New_York", "2024-11-03T05:30Z", "2024-11-03T12:00Z");
  expect(cut.runs).toEqual([at("2024-11-03T06:30Z")]);
  expect(cut.transitions).toMatchObject([{ skipped: [], repeated: [] }]);
});

test("a limit ends the explanation with the last run listed", () => {
  const limited = explain("0 0 * * *", "Europe/Berlin", "2024-03-28T12:00Z", "2024-12-01T00:00Z", 3);
  expect(limited.runs).toEqual([at("2024-03-28T23:00Z"), at("2024-03-29T23:00Z"), at("2024-03-30T23:00Z")]);
  expect(limited.untilMs).toBe(at("2024-03-30T23:00Z"));
  expect(limited.transitions).toEqual([]);
  expect(explain("0 0 * * *", "UTC", "2024-01-01T12:00Z", "2024-01-03T12:00Z", 2).untilMs).toBe(
    at("2024-01-03T12:00Z"),
  );
  expect(explain("* * * * *", "UTC", "2024-01-01T00:00Z", "2025-01-01T00:00Z").runs.length).toBe(1000);
});

test("the next runs are listed however far off they are, with what the clock did on the way", () => {
  const next = explainNextRuns("0 0 29 2 *", { timeZone: "UTC", fromMs: at("2024-03-01T00:00Z"), count: 2 });
  expect(next.runs).toEqual([at("2028-02-29T00:00Z"), at("2032-02-29T00:00Z")]);
  const night = { timeZone: "America/New_York", fromMs: at("2024-03-09T00:00Z"), count: 2 };
  expect(explainNextRuns("30 2 * * *", night)).toMatchObject({
    runs: [at("2024-03-09T07:30Z"), at("2024-03-11T06:30Z")],
    untilMs: at("2024-03-11T06:30Z"),
    transitions: [{ kind: "gap", skipped: ["2024-03-10T02:30"] }],
  });
  expect(explainNextRuns("0 0 31 2 *", { fromMs: 0, count: 5 })).toEqual({
    timeZone: "UTC",
    runs: [],
    untilMs: 0,
    transitions: [],
  });
});

test("the next runs are listed for a hundred years, and to the year 9999", () => {
  const yearly = explainNextRuns("@yearly", { fromMs: at("2026-01-01T00:00Z"), count: 10_000 });
  expect([yearly.runs.length, new Date(yearly.untilMs).getUTCFullYear()]).toEqual([100, 2126]);
  const last = explainNextRuns("@yearly", { fromMs: at("9997-06-01T00:00Z"), count: 10 });
  expect(last.runs).toEqual([at("9998-01-01T00:00Z"), at("9999-01-01T00:00Z")]);
});

test("a fixed delay is not touched by the clock", () => {
  const { runs, transitions } = explain("@every 12h", "Europe/Berlin", "2024-03-30T12:00Z", "2024-04-01T00:00Z");
  expect(runs).toEqual([at("2024-03-31T00:00Z"), at("2024-03-31T12:00Z"), at("2024-04-01T00:00Z")]);
  expect(transitions).toEqual([]);
});

test("a bad schedule and a bad window throw different errors", () => {
  expect(() => explain("* * * *", "UTC", "2024-01-01T00:00Z", "2024-01-02T00:00Z")).toThrow(ScheduleError);
  expect(() => explain("* * * * *", "UTC", "2024-01-02T00:00Z", "2024-01-01T00:00Z")).toThrow(RangeError);
  expect(() => explainSchedule("* * * * *", { fromMs: Number.NaN, toMs: 0 })).toThrow(RangeError);
  expect(() => explainSchedule("0 0 31 2 *", { fromMs: 0, toMs: 8e15 })).toThrow("at most 100 years");
});
