import { describe, expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { job } from "../../test/objects.js";
import { oneLeader, failover } from "./leaders.js";

const elected = { controllerManagers: 2 };

describe("S18 one leader", () => {
  it("refuses two at a time", () => {
    const history = new History(oneLeader, elected);
    history.leading = ["a", "b"];
    history.pass(1000);
    expect(history.violations).toEqual(["leaders: a and b lead at once"]);
  });

  it("accepts writes of who leads, or has led as long ago as a request takes, and refuses others", () => {
    const history = new History(oneLeader, elected);
    history.leading = ["a"];
    history.pass(1000);
    history.store(job(), { component: "job-controller", process: "a" });
    history.leading = [];
    history.pass(60_000);
    history.store(job({ active: 1 }), { component: "job-controller", process: "a" });
    expect(history.violations).toEqual([]);
    history.pass(60_000);
    history.store(job({ active: 2 }), { component: "job-controller", process: "a" });
    history.store(job({ active: 3 }), { component: "job-controller", process: "b" });
    history.store(job({ active: 4 }), "user");
    expect(history.violations).toEqual([
      "Job default/pi: is written by job-controller of a, which led last 120 s ago",
      "Job default/pi: is written by job-controller of b, which has never led",
    ]);
  });

  it("accepts what was sent by who led then, and stood still until it was there, and nothing that was sent after", () => {
    const writtenAfter = (sentMs: number): readonly string[] => {
      const history = new History(oneLeader, elected);
      history.leading = ["a"];
      history.pass(1000);
      history.leading = [];
      history.pass(180_000);
      history.store(job(), { component: "job-controller", process: "a", sentMs });
      return history.violations;
    };
    expect(writtenAfter(START_MS + 900)).toEqual([]);
    expect(writtenAfter(START_MS + 180_000)).toEqual([
      "Job default/pi: is written by job-controller of a, which led last 180 s ago",
    ]);
  });

  it("says nothing of a controller manager that is alone", () => {
    const history = new History(oneLeader);
    history.store(job(), { component: "job-controller", process: "a" });
    expect(history.violations).toEqual([]);
  });
});

describe("L10 failover", () => {
  it("requires a leader after a Lease's duration and two retries", () => {
    const history = new History(failover, elected);
    history.leading = ["a"];
    history.pass(60_000);
    history.leading = [];
    history.pass(28_000);
    expect(history.violations).toEqual([]);
    history.pass(2000);
    expect(history.violations).toEqual(["leaders: no controller manager has led for 30 s"]);
  });

  it("waits for the longest lease, and for the last fault to be over", () => {
    const history = new History(failover, { ...elected, controllers: { leaseDurations: ["60s", "15s"] } });
    history.pass(70_000);
    expect(history.violations).toEqual([]);
    history.healedMs = history.nowMs + 60_000;
    history.pass(59_000);
    expect(history.violations).toEqual([]);
  });
});
