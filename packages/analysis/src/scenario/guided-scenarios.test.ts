import { readFile, readdir } from "node:fs/promises";

import { expect, test } from "vitest";

import { simulateScenario } from "../../test/simulate-scenario.js";
import {
  type EventRecord,
  type ScenarioEventRecord,
  type ObjectRecord,
  type TraceRecord,
  traceLine,
} from "../run/trace.js";
import { loadScenario } from "./load-scenario.js";

const FOLDER = new URL("../../../../examples/scenarios/", import.meta.url).pathname;

interface ScenarioRun {
  readonly records: readonly TraceRecord[];
  readonly problems: readonly string[];
  readonly trace: string;
}

async function runScenario(name: string, freeze: boolean): Promise<ScenarioRun> {
  const scenario = await loadScenario(`${FOLDER}${name}.yaml`, {
    readFile: (path) => readFile(path, "utf8"),
    listFolder: async () => undefined,
  });
  expect(scenario.name).toBe(name);
  expect(scenario.description).toMatch(/Look at/);
  const { records, problems } = await simulateScenario(scenario, { freeze });
  return { records, problems, trace: records.map(traceLine).join("") };
}

function objects<Kind extends ObjectRecord["kind"]>(
  { records }: ScenarioRun,
  kind: Kind,
  change: ObjectRecord["change"],
): Extract<ObjectRecord, { kind: Kind }>[] {
  return records.filter(
    (record): record is Extract<ObjectRecord, { kind: Kind }> =>
      record.type === "object" && record.kind === kind && record.change === change,
  );
}

/** Returns when each run of a CronJob started, and its slot. */
function runs(played: ScenarioRun, cronJob: string): { at: string; slot: string }[] {
  return objects(played, "Job", "ADDED")
    .filter(({ owner }) => owner?.name === cronJob)
    .map(({ at, state }) => ({ at: at.slice(5, 16), slot: state.scheduledFor!.slice(5) }));
}

/** Returns how a Job ended, with its counts at that time. */
function outcome(played: ScenarioRun, job: string) {
  const ended = objects(played, "Job", "MODIFIED").find(
    ({ name, state }) => name === job && state.outcome !== undefined,
  );
  if (ended === undefined) return undefined;
  const { succeeded, failed } = ended.state;
  return { ...ended.state.outcome!, at: ended.at.slice(11, 19), succeeded, failed };
}

function podsOf(played: ScenarioRun, job: string): Extract<ObjectRecord, { kind: "Pod" }>[] {
  return objects(played, "Pod", "ADDED").filter(({ owner }) => owner?.name === job);
}

function deletion(played: ScenarioRun, kind: "Job" | "Pod", name: string): string | undefined {
  return objects(played, kind, "DELETED")
    .find((record) => record.name === name)
    ?.at.slice(11, 19);
}

function events({ records }: ScenarioRun, reason: string): EventRecord[] {
  return records.filter((record): record is EventRecord => record.type === "event" && record.reason === reason);
}

function scenarioEvents({ records }: ScenarioRun): ScenarioEventRecord[] {
  return records.filter((record): record is ScenarioEventRecord => record.type === "scenarioEvent");
}

const EXPECTATIONS: Readonly<Record<string, (played: ScenarioRun) => void>> = {
  "dst-night-forward": (played) => {
    expect(runs(played, "nightly-berlin").map(({ slot }) => slot)).toEqual([
      "03-28T02:30:00+01:00",
      "03-30T02:30:00+02:00",
    ]);
    expect(runs(played, "nightly-utc")).toHaveLength(3);
    expect(runs(played, "hourly-berlin")).toHaveLength(72);
    expect(events(played, "MissSchedule")).toEqual([]);
  },
  "dst-night-backward": (played) => {
    expect(runs(played, "nightly-berlin").map(({ slot }) => slot)).toEqual([
      "10-24T02:30:00+02:00",
      "10-25T02:30:00+02:00",
      "10-25T02:30:00+01:00",
      "10-26T02:30:00+01:00",
    ]);
    expect(runs(played, "nightly-utc")).toHaveLength(3);
    const sunday = runs(played, "hourly-berlin").filter(({ slot }) => slot.startsWith("10-25"));
    expect(sunday).toHaveLength(25);
    const names = objects(played, "Job", "ADDED").map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  },
  "forbid-overrun": (played) => {
    const late = runs(played, "late");
    const delays = late.map(({ at, slot }) => Number(at.slice(9)) - Number(slot.slice(9, 11)));
    expect(late.length).toBeGreaterThanOrEqual(14);
    expect(delays.filter((minutes) => minutes > 0).length).toBeGreaterThan(5);
    expect(Math.max(...delays)).toBeLessThan(10);
    expect(runs(played, "dropped").map(({ slot }) => slot.slice(9, 11))).toEqual(
      Array.from({ length: 12 }, (_, index) => String((index * 20) % 60).padStart(2, "0")),
    );
    expect(runs(played, "allowed")).toHaveLength(24);
    expect(events(played, "JobAlreadyActive").map(({ involved }) => involved.name)).not.toContain("allowed");
    expect(maxConcurrent(played, "late")).toBe(1);
    expect(maxConcurrent(played, "dropped")).toBe(1);
    expect(maxConcurrent(played, "allowed")).toBe(2);
  },
  "weekend-outage": (played) => {
    for (const cronJob of ["every-half-hour", "hourly", "with-deadline"]) {
      const around = runs(played, cronJob).filter(({ at }) => at >= "01-02T18:00" && at < "01-05T08:10");
      expect([cronJob, around]).toEqual([cronJob, [{ at: "01-05T08:05", slot: "01-05T08:00:00Z" }]]);
    }
    expect(events(played, "TooManyMissedTimes").map(({ involved }) => involved.name)).toEqual(["every-half-hour"]);
    expect(runs(played, "weekday-evenings")).toEqual([{ at: "01-05T20:00", slot: "01-05T20:00:00Z" }]);
    expect(scenarioEvents(played)).toMatchObject([{ kind: "controllerDown", until: "2026-01-05T08:05:00.000Z" }]);
  },
  "schedule-edit": (played) => {
    const monday = { at: "03-02T20:00", slot: "03-02T20:00:00Z" };
    const wednesday = { at: "03-04T14:00", slot: "03-04T14:00:00Z" };
    const tuesday = { slot: "03-03T14:00:00Z" };
    expect(runs(played, "touched")).toEqual([monday, { at: "03-03T15:05", ...tuesday }, wednesday]);
    expect(runs(played, "edited")).toEqual([monday, { at: "03-03T20:00", ...tuesday }, wednesday]);
    expect(runs(played, "with-deadline")).toEqual([monday, wednesday]);
  },
  "stuck-finalizer": (played) => {
    expect(outcome(played, "export")).toMatchObject({ at: "08:02:01", type: "Complete", succeeded: 3 });
    const deleting = objects(played, "Pod", "MODIFIED").filter(({ state }) => state.deleting === true);
    expect(new Set(deleting.map(({ at }) => at.slice(11, 19)))).toEqual(new Set(["08:12:01"]));
    expect(podsOf(played, "export").map(({ name }) => deletion(played, "Pod", name))).toEqual(
      Array.from({ length: 3 }, () => "12:00:00"),
    );
    expect(deletion(played, "Job", "export")).toBe("12:00:00");
    expect(deletion(played, "Job", "clean")).toBe("08:12:01");
  },
  "stale-cache": (played) => {
    expect(podsOf(played, "charge-cards").map(({ at }) => at.slice(11, 16))).toEqual(["08:05", "08:05", "08:05"]);
    expect(outcome(played, "charge-cards")).toMatchObject({ type: "Complete", succeeded: 3, failed: 0 });
    expect(outcome(played, "charge-cards")!.at > "08:24").toBe(true);
    // Twelve minutes of work were done at 08:17, but the controller's cache did not show it.
    const counted = objects(played, "Job", "MODIFIED").find(({ state }) => state.succeeded > 0);
    expect(counted!.at > "2026-01-05T08:24").toBe(true);
  },
  "podgc-race": (played) => {
    expect(podsOf(played, "quick")).toHaveLength(1);
    expect(outcome(played, "quick")).toMatchObject({ at: "08:05:30", type: "Complete", succeeded: 1, failed: 0 });
    const [quick] = podsOf(played, "quick");
    expect(deletion(played, "Pod", quick!.name)! > "08:05:30").toBe(true);
    const [lost, second] = podsOf(played, "slow");
    expect(podsOf(played, "slow")).toHaveLength(2);
    expect(deletion(played, "Pod", lost!.name)).toBe(second!.at.slice(11, 19));
    expect(outcome(played, "slow")).toMatchObject({ type: "Complete", succeeded: 1, failed: 1 });
    const collected = played.records.flatMap((record) =>
      record.type === "decision" && record.controller === "pod-garbage-collector-controller" ? [record.decision] : [],
    );
    expect(collected.map(({ reason, markedFailed }) => [reason, markedFailed])).toEqual([
      ["orphaned", false],
      ["orphaned", true],
    ]);
  },
  "lost-lease": (played) => {
    const created = podsOf(played, "shards");
    expect(created.map(({ state }) => state.index).sort((a, b) => a! - b!)).toEqual(
      Array.from({ length: 100 }, (_, index) => index),
    );
    const waves = [...new Set(created.map(({ at }) => Date.parse(at)))];
    const pauses = waves.slice(1).map((at, index) => at - waves[index]!);
    // Three seconds between waves, except for the change of leaders.
    expect(pauses.filter((pauseMs) => pauseMs !== 3000)).toHaveLength(1);
    const change = pauses.findIndex((pauseMs) => pauseMs !== 3000);
    expect(pauses[change]).toBeGreaterThan(5000);
    const before = created.filter(({ at }) => Date.parse(at) <= waves[change]!).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(100);
    expect(outcome(played, "shards")).toMatchObject({ type: "Complete", succeeded: 100, failed: 0 });
    expect(scenarioEvents(played).find(({ kind }) => kind === "leaseLost")?.message).toContain(
      "controller-manager-1 leads",
    );
  },
  "per-index-backoff": (played) => {
    const attempts = (job: string, index: number): number[] => {
      const at = podsOf(played, job)
        .filter(({ state }) => state.index === index)
        .map((pod) => Date.parse(pod.at));
      return at.slice(1).map((time, number) => (time - at[number]!) / 1000);
    };
    // A second to start, thirty seconds to run, and the back-off.
    expect(attempts("patient", 1)).toEqual([41, 51]);
    expect(attempts("patient", 4)).toEqual([41, 51, 71]);
    expect(podsOf(played, "patient")).toHaveLength(6 + 2 + 3);
    expect(outcome(played, "patient")).toMatchObject({ type: "Failed", reason: "FailedIndexes", succeeded: 5 });
    expect(outcome(played, "strict")).toMatchObject({
      type: "Failed",
      reason: "MaxFailedIndexesExceeded",
      succeeded: 1,
    });
    const ended = objects(played, "Job", "MODIFIED").findLast(({ name }) => name === "patient");
    expect(ended?.state).toMatchObject({ completedIndexes: "0-3,5", failedIndexes: "4" });
  },
  "ttl-cleanup": (played) => {
    expect(deletion(played, "Job", "brief")).toBe("08:15:01");
    expect(deletion(played, "Job", "failing")).toBe("08:15:01");
    expect(deletion(played, "Job", "extended")).toBe("09:30:00");
    expect(deletion(played, "Job", "kept")).toBeUndefined();
    expect(outcome(played, "failing")).toMatchObject({ type: "Failed", reason: "BackoffLimitExceeded" });
    for (const job of ["brief", "failing", "extended"])
      expect(podsOf(played, job).map(({ name }) => deletion(played, "Pod", name))).not.toContain(undefined);
  },
};

function maxConcurrent(played: ScenarioRun, cronJob: string): number {
  const states = played.records.flatMap((record) =>
    record.type === "object" && record.kind === "CronJob" && record.name === cronJob
      ? [record.state.active.length]
      : [],
  );
  return Math.max(...states);
}

test("every guided scenario has expectations, and all expectations have a scenario", async () => {
  const files = (await readdir(FOLDER)).map((name) => name.replace(".yaml", ""));
  expect(files.sort()).toEqual(Object.keys(EXPECTATIONS).sort());
});

test.each(Object.entries(EXPECTATIONS))(
  "%s goes as its description says, twice by the byte",
  { timeout: 120_000 },
  async (name, expectations) => {
    const played = await runScenario(name, true);
    expect(played.problems).toEqual([]);
    expectations(played);
    expect((await runScenario(name, false)).trace === played.trace).toBe(true);
  },
);
