import { expect, test } from "vitest";

import { type CommandResult, kubewright } from "../../test/memory-io.js";

const schedule = (...args: string[]): Promise<CommandResult> => kubewright(["schedule", ...args]);

const inNewYork = ["--time-zone", "America/New_York"];

test("the night without a 02:30 is listed between the runs of the days around it", async () => {
  const { code, stdout } = await schedule("30 2 * * *", ...inNewYork, "--from", "2026-03-07T00:00:00Z", "--count", "2");
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      "Sat 2026-03-07 02:30:00 -05:00  2026-03-07T07:30:00Z",
      "  × Sun 2026-03-08 02:30: clocks go forward from 02:00 to 03:00, so no run",
      "Mon 2026-03-09 02:30:00 -04:00  2026-03-09T06:30:00Z",
      "",
    ].join("\n"),
  );
});

test("the second run of a repeated hour is marked", async () => {
  const { stdout } = await schedule("30 1 * * *", ...inNewYork, "--from", "2026-11-01T00:00:00Z", "--count", "2");
  expect(stdout).toBe(
    [
      "Sun 2026-11-01 01:30:00 -04:00  2026-11-01T05:30:00Z",
      "Sun 2026-11-01 01:30:00 -05:00  2026-11-01T06:30:00Z  ↻ 01:30 for the second time: clocks go back from 02:00 to 01:00",
      "",
    ].join("\n"),
  );
});

test("a run on a day that the fields do not name has a remark", async () => {
  const flags = ["--time-zone", "America/Sao_Paulo", "--from", "2018-11-03T09:00:00Z", "--count", "1"];
  expect((await schedule("30 5 * * 6", ...flags)).stdout).toContain("↻ not a time of this schedule, but it runs");
});

test("a night with many missing times names a few and counts the rest", async () => {
  const { stdout } = await schedule("*/5 * * * *", ...inNewYork, "--from", "2026-03-08T06:50:00Z", "--count", "2");
  expect(stdout).toContain("× Sun 2026-03-08 02:00, 02:05, 02:10 and 9 more: clocks go forward");
});

test("runs begin strictly after --from, and without it after now", async () => {
  const { stdout } = await schedule("0 * * * *", "--from", "2026-01-01T01:00:00Z", "--count", "1");
  expect(stdout).toBe("Thu 2026-01-01 02:00:00 +00:00  2026-01-01T02:00:00Z\n");
  const beforeMs = Date.now();
  const [first] = (
    JSON.parse((await schedule("* * * * *", "-o", "json", "--count", "1")).stdout) as { runs: { utc: string }[] }
  ).runs;
  expect(Date.parse(first!.utc)).toBeGreaterThan(beforeMs);
  expect(Date.parse(first!.utc)).toBeLessThanOrEqual(Date.now() + 60_000);
});

test("@every is printed with the time it counts from", async () => {
  const { stdout } = await schedule("@every 90m", "--from", "2026-01-01T00:00:30Z", "--count", "1");
  expect(stdout).toBe(
    "Thu 2026-01-01 01:30:30 +00:00  2026-01-01T01:30:30Z\n@every counts from the last run, or from the CronJob's creation, not from the clock: here from --from.\n",
  );
});

test("the output says that a schedule never fires or ends, and how far a rare one was searched", async () => {
  const from = (time: string): string[] => ["--from", time, "--count", "200"];
  expect((await schedule("0 0 31 2 *", ...from("2026-01-01T00:00:00Z"))).stdout).toBe(
    "never: no run within five years of 2026-01-01T00:00:00Z\n",
  );
  expect((await schedule("0 0 29 2 *", ...from("2095-01-01"))).stdout).toBe(
    "Wed 2096-02-29 00:00:00 +00:00  2096-02-29T00:00:00Z\nno later run within five years\n",
  );
  const yearly = (await schedule("@yearly", ...from("2026-01-01"))).stdout.trimEnd().split("\n");
  expect(yearly).toHaveLength(101);
  expect(yearly.at(-1)).toMatch(/^no further than 2126-/);
});

test("-o json has the runs and the clock changes that affect them", async () => {
  const { stdout } = await schedule(
    "30 2 * * *",
    ...inNewYork,
    "--from",
    "2026-03-07T00:00:00Z",
    "--count",
    "2",
    "-o",
    "json",
  );
  expect(JSON.parse(stdout)).toEqual({
    schedule: "30 2 * * *",
    from: "2026-03-07T00:00:00Z",
    timeZone: "America/New_York",
    runs: [
      { utc: "2026-03-07T07:30:00Z", local: "2026-03-07T02:30:00-05:00" },
      { utc: "2026-03-09T06:30:00Z", local: "2026-03-09T02:30:00-04:00" },
    ],
    exhausted: false,
    clockChanges: [
      {
        kind: "gap",
        utc: "2026-03-08T07:00:00Z",
        local: "2026-03-08T03:00:00-04:00",
        skipped: ["2026-03-08T02:30"],
        repeated: [],
        misplaced: [],
      },
    ],
  });
});

test.each([
  [["61 * * * *"], "minute: end of range (61) above maximum (59): 61"],
  [["0 0 * * FRI-MON"], "day of week: beginning of range (5) beyond end of range (1): FRI-MON"],
  [["* * * *"], "expected exactly 5 fields, found 4: [* * * *]"],
  [["0", "3", "*", "*", "MON"], "put the schedule in quotes: kubewright schedule '0 3 * * MON'"],
  [["@often"], "unrecognized descriptor: @often"],
  [
    ["@daily", "--time-zone", "europe/berlin"],
    "--time-zone: unknown time zone europe/berlin (did you mean Europe/Berlin?)",
  ],
  [["@daily", "--time-zone", "Mars/Olympus"], "--time-zone: unknown time zone Mars/Olympus"],
  [["@daily", "--time-zone", ""], "--time-zone: the zone is empty"],
  [["TZ=Berlin 0 0 * * *"], "provided bad location Berlin: unknown time zone Berlin (did you mean Europe/Berlin?)"],
  [["@daily", "--count", "0"], '--count: "0" is not a whole number from 1 to 10000'],
  [["@daily", "--count", "10001"], '--count: "10001" is not a whole number from 1 to 10000'],
  [["@daily", "--from", "2026-02-30"], '--from: "2026-02-30" is not a time; write for example 2026-03-28T22:00:00Z'],
  [["@daily", "-o", "yaml"], '--output: "yaml" is not one of text, json'],
])("%j is wrong: one line with the place, status 2", async (args, message) => {
  expect(await schedule(...args)).toMatchObject({ code: 2, stdout: "", stderr: `kubewright: ${message}\n` });
});
