import { CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION, type CronJob, type Job, formatTime } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { condition, cronJob, job } from "../../test/objects.js";
import { cronJobsProgress } from "./cron-liveness.js";
import { oneJobPerSlot } from "./cron-slots.js";
import { cronJobStatus, historyLimits } from "./cron-status.js";

const CONTROLLER = "cronjob-controller";
const SLOT_MS = START_MS + 60_000;
const SLOT = "2026-03-02T10:01:00.000Z";

function run(name: string, slotMs?: number, status: Job["status"] = {}): Job {
  const made = job(status, {}, name);
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
  return {
    ...made,
    metadata: {
      ...made.metadata,
      ownerReferences: [owner],
      ...(slotMs === undefined
        ? {}
        : { annotations: { [CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION]: formatTime(slotMs) } }),
    },
  };
}

const active = (...names: string[]): NonNullable<CronJob["status"]> => ({
  active: names.map((name) => ({ kind: "Job", name, namespace: "default", uid: `uid-of-${name}` })),
});

/** Returns a history at the first slot, with the CronJob stored and in its controller's cache. */
function atSlot(spec: Partial<CronJob["spec"]> = {}, plan = {}): History {
  const history = new History([oneJobPerSlot, cronJobsProgress], plan);
  history.store(cronJob(spec));
  history.show(cronJob(spec), { component: CONTROLLER });
  history.pass(60_000);
  return history;
}

describe("S11 one Job per slot", () => {
  it("accepts a Job right after its slot", () => {
    const history = atSlot();
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("goes by the schedule and the zone that its controller was shown, and by no earlier ones", () => {
    const history = new History(oneJobPerSlot);
    const [utc, kolkata] = [undefined, "Asia/Kolkata"].map((timeZone, index) => {
      const made = cronJob({ schedule: "1 * * * *", ...(timeZone === undefined ? {} : { timeZone }) });
      return { ...made, metadata: { ...made.metadata, generation: index + 1 } };
    });
    for (const version of [utc!, kolkata!]) {
      history.store(version);
      history.show(version, { component: CONTROLLER });
      history.pass(version === utc ? 1_000 : 20_000);
    }
    // The sync may have begun before the change was delivered.
    history.pass(39_000);
    history.store(run("tick-1", SLOT_MS), { component: CONTROLLER, sentMs: START_MS + 2_000 });
    expect(history.violations).toEqual([]);

    history.pass(3_600_000);
    history.store(run("tick-2", SLOT_MS + 3_600_000), CONTROLLER);
    expect(history.violations).toEqual([
      "CronJob default/tick: starts Job default/tick-2 for 2026-03-02T11:01:00.000Z, which is no time of 1 * * * * Asia/Kolkata",
    ]);
  });

  it("goes by the controller's clock when it is to have decided before the deadline", () => {
    const history = atSlot({ startingDeadlineSeconds: 5 });
    const decide = (atMs: number, outcome: string): void =>
      history.decide({
        controller: CONTROLLER,
        decision: { key: "default/tick", atMs, outcome, slotMs: SLOT_MS, jobName: "tick-1" } as never,
      });
    decide(SLOT_MS + 4_999, "ran");
    decide(SLOT_MS + 9_000, "alreadyProcessed");
    expect(history.violations).toEqual([]);
    decide(SLOT_MS + 5_000, "ran");
    expect(history.violations).toEqual([
      `CronJob default/tick: starts tick-1 for ${SLOT}, decides 5 s after it, and its deadline is 5 s`,
    ]);
  });

  it("refuses another for the slot, beside the first or after it", () => {
    const history = atSlot();
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    history.store(run("tick-x", SLOT_MS), CONTROLLER);
    expect(history.violations).toEqual([`CronJob default/tick: starts Job default/tick-x for ${SLOT}, beside tick-1`]);

    const after = atSlot();
    after.store(run("tick-1", SLOT_MS), CONTROLLER);
    const known = cronJob({}, { lastScheduleTime: SLOT });
    after.store(known, CONTROLLER);
    after.show(known, { component: CONTROLLER, type: "update" });
    after.remove(run("tick-1", SLOT_MS));
    after.store(run("tick-y", SLOT_MS), CONTROLLER);
    expect(after.violations).toEqual([
      `CronJob default/tick: starts Job default/tick-y for ${SLOT}, after tick-1, which is gone`,
    ]);
  });

  it("accepts another when the first is gone and no status records it (X11)", () => {
    const history = atSlot();
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    history.remove(run("tick-1", SLOT_MS));
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it.each([
    ["which is no time of * * * * *", SLOT_MS - 1000],
    ["which is yet to come", SLOT_MS + 60_000],
    ["before it was created", SLOT_MS - 120_000],
  ])("refuses one %s", (message, slotMs) => {
    const history = atSlot();
    history.store(run("tick-1", slotMs), CONTROLLER);
    expect(history.violations).toEqual([expect.stringContaining(message)]);
  });

  it("goes by the clock on the wall", () => {
    const start = (schedule: string, fromMs: number, slotMs: number): readonly string[] => {
      const history = new History([oneJobPerSlot, cronJobsProgress]);
      const zoned = { schedule, timeZone: "Europe/Berlin" };
      history.nowMs = fromMs;
      history.store(cronJob(zoned));
      history.show(cronJob(zoned), { component: CONTROLLER });
      history.pass(slotMs - fromMs);
      history.store(run("tick-1", slotMs), CONTROLLER);
      return history.violations;
    };
    // At two in the morning the clocks are set forward to three.
    const eveMs = Date.UTC(2026, 2, 28, 23);
    expect(start("0 5 * * *", eveMs, Date.UTC(2026, 2, 29, 3))).toEqual([]);
    expect(start("0 5 * * *", eveMs, Date.UTC(2026, 2, 29, 4))).toEqual([
      expect.stringContaining("which is no time of 0 5 * * *"),
    ]);
    expect(start("0 5 * * *", eveMs, Date.UTC(2026, 2, 30, 3))).toEqual([
      expect.stringContaining("and has skipped the slot of 2026-03-29T03:00:00.000Z"),
    ]);
  });

  it("refuses one after its deadline, and one that is late for no reason", () => {
    const missed = atSlot({ startingDeadlineSeconds: 10 });
    missed.pass(90_000);
    missed.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(missed.violations).toEqual([
      `CronJob default/tick: starts Job default/tick-1 for ${SLOT}, 90 s after it, and its deadline is 10 s`,
    ]);

    const late = atSlot({ schedule: "@every 1m" });
    late.pass(240_000);
    late.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(late.violations).toEqual([
      `CronJob default/tick: starts Job default/tick-1 for ${SLOT}, 240 s after it, with nothing in its way for 240 s`,
    ]);
  });

  it("accepts a late one where something was in its way until shortly before", () => {
    const restarted = atSlot();
    restarted.pass(240_000);
    restarted.show(cronJob(), { component: CONTROLLER, incarnation: 2 });
    restarted.store(run("tick-1", SLOT_MS), { component: CONTROLLER, incarnation: 2 });
    expect(restarted.violations).toEqual([]);

    // After sixteen refusals in a row the back-off is longer than five minutes, after eight it is not.
    for (const [refusals, count] of [
      [8, 1],
      [16, 0],
    ]) {
      const refused = atSlot();
      const key = "default/tick";
      for (let refusal = 0; refusal < refusals!; refusal++) {
        refused.answer({ component: CONTROLLER, code: 500, verb: "create", resource: "jobs.batch", name: "tick-1" });
        // The sync still writes the status of the Jobs that it has deleted.
        refused.decide({ controller: CONTROLLER, decision: { key, outcome: "failed" } as never });
        refused.answer({
          component: CONTROLLER,
          code: 200,
          resource: "cronjobs.batch",
          subresource: "status",
          name: "tick",
        });
      }
      refused.pass(300_000);
      refused.store(run("tick-1", SLOT_MS), CONTROLLER);
      expect(refused.violations).toHaveLength(count!);
    }

    const blocked = atSlot({ concurrencyPolicy: "Forbid" });
    const running = run("tick-0", START_MS);
    blocked.store(running, CONTROLLER);
    blocked.store(cronJob({ concurrencyPolicy: "Forbid" }, active("tick-0")), CONTROLLER);
    blocked.pass(400_000);
    blocked.store({ ...running, status: { conditions: [condition("Complete")] } }, "job-controller");
    blocked.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(blocked.violations).toEqual([]);
  });

  it("accepts a late one whose name a foreign Job had, of whose deletion the CronJob gets no event (X12)", () => {
    for (const [by, count] of [
      ["user", 0],
      [CONTROLLER, 1],
    ] as const) {
      const history = atSlot();
      const other = by === "user" ? job({}, {}, "tick-1") : run("tick-1", SLOT_MS);
      history.store(other, by);
      history.answer({ component: CONTROLLER, code: 409, verb: "create", resource: "jobs.batch", name: "tick-1" });
      history.remove(other);
      history.pass(600_000);
      history.store(run("tick-1", SLOT_MS, {}), { component: CONTROLLER });
      expect(history.violations).toHaveLength(count);
    }
  });

  it("refuses to overlap with Forbid, but when the start before is not seen (X13)", () => {
    const forbidding = cronJob({ concurrencyPolicy: "Forbid" }, active("tick-0"));
    for (const [shown, count] of [
      [forbidding, 1],
      [cronJob({ concurrencyPolicy: "Forbid" }), 0],
    ] as const) {
      const history = atSlot({ concurrencyPolicy: "Forbid" });
      history.store(run("tick-0", START_MS), CONTROLLER);
      history.store(forbidding, CONTROLLER);
      history.show(shown, { component: CONTROLLER, type: "update" });
      history.pass(31_000);
      history.store(run("tick-1", SLOT_MS), CONTROLLER);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("refuses to skip a slot, but where something was in its way", () => {
    const skipping = (spec: Partial<CronJob["spec"]>, slots: number, before: (history: History) => void = () => {}) => {
      const events = [
        { at: "+1m", for: "2m", requestFails: { verbs: ["list"] } },
        { at: "+1m", patch: { kind: "CronJob", name: "tick", with: {} } },
      ] as const;
      const history = atSlot(spec, { events });
      history.store(run("tick-1", SLOT_MS), CONTROLLER);
      before(history);
      history.pass(SLOT_MS + slots * 60_000 - history.nowMs);
      history.store(run("tick-x", SLOT_MS + slots * 60_000), CONTROLLER);
      return history.violations;
    };
    expect(skipping({}, 1)).toEqual([]);
    expect(skipping({}, 2)).toEqual([]);
    expect(skipping({}, 3)).toEqual([
      "CronJob default/tick: starts Job default/tick-x for 2026-03-02T10:04:00.000Z, and has skipped the slot of " +
        "2026-03-02T10:02:00.000Z, with nothing in its way",
    ]);
    expect(skipping({ schedule: "@every 1m" }, 3)).toHaveLength(1);
    expect(skipping({ startingDeadlineSeconds: 100 }, 3)).toHaveLength(1);
    expect(skipping({ schedule: "@every 1m", startingDeadlineSeconds: 100 }, 3)).toEqual([]);
    expect(skipping({ startingDeadlineSeconds: 60 }, 3)).toEqual([]);
    expect(skipping({ schedule: "1,4 * * * *" }, 3)).toEqual([]);
    const edited = (history: History): void => {
      history.pass(10_000);
      history.happen(1, "patch", "begin");
      history.store({ ...cronJob({ schedule: "*/1 * * * *" }), metadata: { name: "tick", generation: 2 } });
    };
    expect(skipping({}, 3, edited)).toHaveLength(1);
    const refused = (history: History): void =>
      history.answer({ component: CONTROLLER, code: 500, verb: "create", resource: "jobs.batch", name: "tick-2" });
    expect(skipping({}, 3, refused)).toHaveLength(1);
    const during = (history: History): void => history.happen(0, "requestFails", "begin");
    expect(skipping({}, 3, during)).toEqual([]);
    const running = (history: History): void => {
      history.store(cronJob({ concurrencyPolicy: "Forbid" }, active("tick-1")), CONTROLLER);
      history.pass(70_000);
      history.store(run("tick-1", SLOT_MS, { conditions: [condition("Complete")] }), "job-controller");
    };
    expect(skipping({ concurrencyPolicy: "Forbid" }, 3, running)).toEqual([]);
  });

  it("reports one started with Replace beside a listed one that is not deleted", () => {
    const replacing = cronJob({ concurrencyPolicy: "Replace" }, active("tick-0"));
    const started = (shown: CronJob, before: (history: History, running: Job) => void): readonly string[] => {
      const history = atSlot({ concurrencyPolicy: "Replace" });
      const running = run("tick-0", START_MS);
      history.store(running, CONTROLLER);
      history.store(replacing, CONTROLLER);
      history.show(shown, { component: CONTROLLER, type: "update" });
      history.pass(31_000);
      before(history, running);
      history.store(run("tick-1", SLOT_MS), CONTROLLER);
      return history.violations;
    };
    expect(started(replacing, () => {})).toEqual([
      `CronJob default/tick: starts Job default/tick-1 for ${SLOT}, beside tick-0, which it was to replace`,
    ]);
    expect(started(replacing, (history, running) => history.remove(running, CONTROLLER))).toEqual([]);
    const deletionTimestamp = "2026-03-02T10:01:00Z";
    const isDeleted = (history: History, running: Job): unknown =>
      history.store({ ...running, metadata: { ...running.metadata, deletionTimestamp } }, CONTROLLER);
    expect(started(replacing, isDeleted)).toEqual([]);
    const ends = (history: History, running: Job): unknown =>
      history.store({ ...running, status: { conditions: [condition("Complete")] } }, "job-controller");
    expect(started(replacing, ends)).toEqual([]);
    // A controller that has not observed the start cannot replace the Job.
    expect(started(cronJob({ concurrencyPolicy: "Replace" }), () => {})).toEqual([]);
    expect(started(cronJob({}, active("tick-0")), () => {})).toEqual([]);
  });

  it("goes by what the controller saw when its sync may have begun", () => {
    for (const [changed, spec] of [
      [cronJob({ concurrencyPolicy: "Forbid" }, active("tick-0")), { concurrencyPolicy: "Forbid" }],
      [cronJob({ suspend: true }), {}],
    ] as const)
      for (const [sinceMs, count] of [
        [31_000, 1],
        [20_000, 0],
      ] as const) {
        const history = atSlot(spec);
        history.store(run("tick-0", START_MS), CONTROLLER);
        history.store(changed, CONTROLLER);
        history.show(changed, { component: CONTROLLER, type: "update" });
        history.pass(sinceMs);
        history.store(run("tick-1", SLOT_MS), CONTROLLER);
        expect(history.violations).toHaveLength(count);
      }
  });

  it("accepts a late one where a cache of its controller was behind", () => {
    for (const [seenLateMs, count] of [
      [280_000, 0],
      [0, 1],
    ] as const) {
      const history = atSlot({ schedule: "@every 1m" });
      const stored = history.store(cronJob({ schedule: "@every 1m" }));
      history.pass(seenLateMs);
      history.show(stored, { component: CONTROLLER, type: "update" });
      history.pass(290_000 - seenLateMs);
      history.store(run("tick-1", SLOT_MS), CONTROLLER);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("accepts an overlap where all that the controller sees listed has finished (X13)", () => {
    const history = atSlot({ concurrencyPolicy: "Forbid" });
    history.store(run("tick-0", START_MS, { conditions: [condition("Complete")] }), CONTROLLER);
    const before = cronJob({ concurrencyPolicy: "Forbid" }, active("tick-0"));
    history.store(before, CONTROLLER);
    history.show(before, { component: CONTROLLER, type: "update" });
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    history.store(cronJob({ concurrencyPolicy: "Forbid" }, active("tick-1")), CONTROLLER);
    history.pass(60_000);
    history.store(run("tick-2", SLOT_MS + 60_000), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("accepts a Job beside one that has finished, even if the status lists it", () => {
    const history = atSlot({ concurrencyPolicy: "Forbid" });
    history.store(run("tick-0", START_MS, { conditions: [condition("Complete")] }), CONTROLLER);
    const listing = cronJob({ concurrencyPolicy: "Forbid" }, active("tick-0"));
    history.store(listing, CONTROLLER);
    history.show(listing, { component: CONTROLLER, type: "update" });
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("refuses a start while the controller knows that it is suspended", () => {
    const history = atSlot({ suspend: true });
    history.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(history.violations).toEqual([
      `CronJob default/tick: starts Job default/tick-1 for ${SLOT}, while it is suspended`,
    ]);
    const unseen = atSlot();
    unseen.store(cronJob({ suspend: true }));
    unseen.store(run("tick-1", SLOT_MS), CONTROLLER);
    expect(unseen.violations).toEqual([]);
  });
});

describe("S12 CronJob status", () => {
  it("refuses times that go back, and a last time that is no slot", () => {
    const history = new History(cronJobStatus);
    history.store(cronJob({}, { lastScheduleTime: SLOT, lastSuccessfulTime: SLOT }));
    const earlier = "2026-03-02T10:00:30.000Z";
    history.store(cronJob({}, { lastScheduleTime: earlier, lastSuccessfulTime: earlier }), CONTROLLER);
    expect(history.violations).toEqual([
      `CronJob default/tick: lastScheduleTime goes back from ${SLOT} to ${earlier}`,
      `CronJob default/tick: lastSuccessfulTime goes back from ${SLOT} to ${earlier}`,
      `CronJob default/tick: lastScheduleTime is ${earlier}, which is no slot`,
    ]);
  });

  it("wants the last success to be that of the newest of its Jobs that have succeeded", () => {
    const succeeded = (at: string): Job["status"] => ({ conditions: [condition("Complete")], completionTime: at });
    const judged = (lastSuccessfulTime?: string): readonly string[] => {
      const history = new History(cronJobStatus);
      history.store(cronJob());
      history.store(run("tick-1", START_MS, succeeded("2026-03-02T10:05:00Z")), "job-controller");
      history.store(run("tick-2", SLOT_MS, succeeded("2026-03-02T10:02:00Z")), "job-controller");
      history.store(cronJob({}, lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }), CONTROLLER);
      history.pass(61_000);
      history.rest();
      return history.violations;
    };
    expect(judged("2026-03-02T10:05:00Z")).toEqual([]);
    // Also for a Job that has been deleted since.
    expect(judged("2026-03-02T10:07:00Z")).toEqual([]);
    for (const time of ["2026-03-02T10:02:00Z", undefined])
      expect(judged(time)).toEqual([
        `CronJob default/tick: says that it succeeded last at ${time ?? "no time"}, and tick-1 did so at 2026-03-02T10:05:00Z`,
      ]);
  });

  it("wants active to list the unfinished Jobs at rest", () => {
    const history = new History(cronJobStatus);
    history.store(cronJob());
    history.store(run("tick-1", START_MS), CONTROLLER);
    history.store(cronJob({}, active("tick-1")), CONTROLLER);
    history.store(run("by-hand"), "user");
    history.pass(120_000);
    history.rest();
    expect(history.violations).toEqual([]);

    history.store(cronJob(), CONTROLLER);
    history.rest();
    expect(history.violations.splice(0)).toEqual(["CronJob default/tick: does not list tick-1, which is active"]);

    history.store(cronJob({}, active("tick-1", "tick-9")), CONTROLLER);
    expect(history.violations.splice(0)).toEqual(["CronJob default/tick: lists tick-9, which it does not own"]);
    history.rest();
    expect(history.violations.splice(0)).toEqual(["CronJob default/tick: lists tick-9, which does not exist"]);

    history.store(run("tick-1", START_MS, { conditions: [condition("Failed")] }), "job-controller");
    history.pass(70_000);
    history.rest();
    expect(history.violations.splice(0)).toEqual(["CronJob default/tick: lists tick-1, which ended 70 s ago"]);
  });

  it("gives the controller a minute to notice that a Job is gone", () => {
    const history = new History(cronJobStatus);
    history.store(cronJob());
    history.store(run("tick-1", START_MS), CONTROLLER);
    history.store(cronJob({}, active("tick-1")), CONTROLLER);
    history.remove(run("tick-1", START_MS), CONTROLLER);
    history.pass(1000);
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(60_000);
    history.rest();
    expect(history.violations).toEqual(["CronJob default/tick: lists tick-1, which is gone, and ended 61 s ago"]);
  });

  it("gives it longer while it runs, and as long as anything may keep it from that", () => {
    const left = (disturb: (history: History) => void): readonly string[] => {
      const history = new History(cronJobStatus, {
        events: [{ at: "1s", for: "1h", staleCache: { kind: "Job", controller: CONTROLLER } }],
      });
      history.store(cronJob());
      history.store(run("tick-1", START_MS), CONTROLLER);
      history.store(cronJob({}, active("tick-1")), CONTROLLER);
      history.remove(run("tick-1", START_MS), CONTROLLER);
      history.pass(190_000);
      expect(history.violations).toEqual([]);
      disturb(history);
      history.pass(20_000);
      return history.violations;
    };
    expect(left(() => {})).toEqual(["CronJob default/tick: lists tick-1, which is gone, and ended 210 s ago"]);
    expect(left((history) => history.happen(0, "staleCache", "begin"))).toEqual([]);
    expect(left((history) => history.show(cronJob(), { component: CONTROLLER }))).toEqual([]);
    expect(left((history) => history.store(job({}, {}, "tick-1")))).toEqual([]);
    const resource = "cronjobs.batch";
    expect(left((history) => history.answer({ component: CONTROLLER, code: 500, resource, name: "tick" }))).toEqual([]);
  });

  it("gives it as long as its syncs back off, which a Job that is made meanwhile does not end", () => {
    const left = (refusals: number, between: (history: History) => void): readonly string[] => {
      const history = new History(cronJobStatus);
      history.store(cronJob());
      history.store(run("tick-1", START_MS), CONTROLLER);
      history.store(cronJob({}, active("tick-1")), CONTROLLER);
      history.remove(run("tick-1", START_MS), CONTROLLER);
      const status = { component: CONTROLLER, resource: "cronjobs.batch", subresource: "status", name: "tick" };
      for (let refusal = 0; refusal < refusals; refusal++) {
        history.answer({ ...status, code: 409 });
        between(history);
      }
      history.pass(300_000);
      history.rest();
      return history.violations;
    };
    const made = { component: CONTROLLER, verb: "create", resource: "jobs.batch", name: "tick-1" };
    expect(left(16, () => {})).toEqual([]);
    expect(left(16, (history) => history.answer({ ...made, code: 201 }))).toEqual([]);
    expect(left(8, () => {})).not.toEqual([]);
    const written = { component: CONTROLLER, resource: "cronjobs.batch", subresource: "status", name: "tick" };
    expect(left(16, (history) => history.answer({ ...written, code: 200 }))).not.toEqual([]);
  });

  it("accepts a Job that is not listed when a request for it was refused", () => {
    const history = new History(cronJobStatus);
    history.store(cronJob());
    history.store(run("tick-1", START_MS), CONTROLLER);
    history.answer({
      component: CONTROLLER,
      code: 409,
      resource: "cronjobs.batch",
      subresource: "status",
      name: "tick",
    });
    history.pass(120_000);
    history.rest();
    expect(history.violations).toEqual([]);
  });
});

describe("S13 history limits", () => {
  const ended = (name: string, minute: number, type = "Complete"): Job =>
    run(name, START_MS, { startTime: formatTime(START_MS + minute * 60_000), conditions: [condition(type)] });

  function kept(limit: number): History {
    const history = new History(historyLimits);
    history.store(cronJob({ successfulJobsHistoryLimit: limit }));
    for (const [name, minute] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const) {
      history.store(ended(name, minute), CONTROLLER);
      history.show(ended(name, minute), { component: CONTROLLER });
    }
    return history;
  }

  it("accepts the deletion of the oldest beyond the limit", () => {
    const history = kept(1);
    history.remove(ended("a", 1), CONTROLLER);
    history.remove(ended("b", 2), CONTROLLER);
    expect(history.violations).toEqual([]);
  });

  it("refuses to leave pods behind, or to wait for them", () => {
    for (const [finalizers, message] of [
      [["example.com/hold"], undefined],
      [["example.com/hold", "orphan"], "and leaves its pods behind"],
      [["example.com/hold", "foregroundDeletion"], "and waits for its pods"],
    ] as const) {
      const history = kept(1);
      const going = ended("a", 1);
      const metadata = { ...going.metadata, deletionTimestamp: "2026-03-02T10:00:00Z", finalizers: [...finalizers] };
      history.store({ ...going, metadata }, { component: CONTROLLER, verb: "delete" });
      expect(history.violations).toEqual(
        message === undefined ? [] : [`Job default/a: is deleted by cronjob-controller, ${message}`],
      );
    }
  });

  it("refuses the deletion of one too many, of a newer one first, and of one that is not finished", () => {
    const many = kept(3);
    many.remove(ended("a", 1), CONTROLLER);
    expect(many.violations).toEqual([
      "Job default/a: is deleted by cronjob-controller, of 3 Jobs that are Complete, and 3 are kept",
    ]);
    const newer = kept(2);
    newer.remove(ended("c", 3), CONTROLLER);
    expect(newer.violations).toEqual(["Job default/c: is deleted by cronjob-controller, before 2 older ones"]);

    const unfinished = kept(0);
    unfinished.store(run("d"), CONTROLLER);
    unfinished.remove(run("d"), CONTROLLER);
    expect(unfinished.violations).toEqual(["Job default/d: is deleted by cronjob-controller, unfinished"]);
  });

  it("accepts the deletion of the oldest by a sync that began when its cache still showed one that is gone", () => {
    for (const [passedMs, count] of [
      [0, 0],
      [60_000, 1],
    ] as const) {
      const history = kept(2);
      const gone = ended("c", 3);
      history.remove(gone);
      history.show(gone, { component: CONTROLLER, type: "delete" });
      history.pass(passedMs);
      history.remove(ended("a", 1), CONTROLLER);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("refuses the deletion of what is not its own, and with Replace of what it does not list", () => {
    const history = new History(historyLimits);
    history.store(cronJob({ concurrencyPolicy: "Replace" }, active("a")));
    history.store(job({}, {}, "other"));
    history.remove(job({}, {}, "other"), CONTROLLER);
    for (const name of ["a", "b"]) {
      history.store(run(name), CONTROLLER);
      history.remove(run(name), CONTROLLER);
    }
    expect(history.violations).toEqual([
      "Job default/other: is deleted by cronjob-controller, which none controls",
      "Job default/b: is deleted by cronjob-controller, unfinished",
    ]);
  });
});
