import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { cronJob } from "../../test/objects.js";
import { failedSyncsAreRetried } from "./cron-retries.js";

const CONTROLLER = "cronjob-controller";

function withCronJob(plan = {}): History {
  const history = new History(failedSyncsAreRetried, plan);
  history.store(cronJob());
  history.pass(1_000);
  return history;
}

function decide(history: History, outcome: string, nextSyncMs?: number): void {
  history.decide({ controller: CONTROLLER, decision: { key: "default/tick", outcome, nextSyncMs } as never });
}

function fail(history: History, times = 1): void {
  for (let time = 0; time < times; time++) decide(history, "failed");
}

const subject = { component: CONTROLLER, namespace: "default" };
const status = { ...subject, verb: "update", resource: "cronjobs.batch", subresource: "status", name: "tick" };

describe("L13 failed syncs are retried", () => {
  it("reports a failed sync that is not retried", () => {
    const history = withCronJob();
    fail(history);
    history.pass(70_000);
    expect(history.violations).toEqual([]);
    history.pass(1_000);
    expect(history.violations).toEqual(["CronJob default/tick: has waited 71 s to be tried again after 1 failures"]);
  });

  it("accepts that it takes the longer the more have failed in a row", () => {
    const history = withCronJob();
    fail(history, 15);
    history.pass(200_000);
    expect(history.violations).toEqual([]);
    history.pass(35_000);
    expect(history.violations).toHaveLength(1);
  });

  it("resets the count once a sync has not failed, and waits for a slot", () => {
    for (const [nextSyncMs, count] of [
      [1, 1],
      [undefined, 0],
    ] as const) {
      const history = withCronJob();
      fail(history, 15);
      decide(history, "ran", nextSyncMs);
      fail(history);
      history.pass(75_000);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("takes a sync for one that failed whose status was refused", () => {
    const history = withCronJob();
    fail(history, 14);
    decide(history, "ran", 1);
    history.answer({ ...status, code: 409 });
    history.pass(200_000);
    expect(history.violations).toEqual([]);
    history.pass(35_000);
    expect(history.violations).toHaveLength(1);
  });

  it("accepts a retry, also one that only requests show", () => {
    const history = withCronJob();
    fail(history);
    history.pass(60_000);
    history.answer({ ...subject, verb: "delete", resource: "jobs.batch", name: "tick-1", code: 0 });
    history.pass(60_000);
    decide(history, "notDue", 1);
    history.pass(100_000);
    expect(history.violations).toEqual([]);
  });

  it("says nothing of what is gone, nor while something is wrong, or of who may have to take over", () => {
    const gone = withCronJob();
    fail(gone);
    gone.remove(cronJob());
    gone.pass(75_000);
    expect(gone.violations).toEqual([]);

    const down = withCronJob({ events: [{ at: "+1s", for: "5m", controllerDown: "all" }] });
    fail(down);
    down.happen(0, "controllerDown", "begin");
    down.pass(75_000);
    down.happen(0, "controllerDown", "end");
    down.pass(65_000);
    expect(down.violations).toEqual([]);

    const two = withCronJob({ controllerManagers: 2 });
    fail(two);
    two.pass(75_000);
    expect(two.violations).toEqual([]);

    const refusing = withCronJob({ events: [{ at: "+1s", for: "5m", requestFails: {} }] });
    refusing.happen(0, "requestFails", "begin");
    fail(refusing);
    refusing.pass(75_000);
    expect(refusing.violations).toHaveLength(1);
  });
});
