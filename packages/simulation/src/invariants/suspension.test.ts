import type { JobSpec, JobStatus } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { condition, job } from "../../test/objects.js";
import { suspensionIsReported } from "./suspension.js";

const CONTROLLER = "job-controller";
const startTime = "2026-03-02T10:00:00Z";
const suspended = [condition("Suspended", "JobSuspended")];
const resumed = [{ ...condition("Suspended", "JobResumed"), status: "False" }];
const pods = { create: [], remove: [] };

function judge(spec: Partial<JobSpec>, status: JobStatus, plan: object = { pods }): readonly string[] {
  const history = new History(suspensionIsReported);
  history.store(job({}, spec));
  history.store(job(status, spec), CONTROLLER);
  const decision = { key: "default/pi", uid: "uid-of-pi", plan } as unknown as JobDecision;
  history.decide({ controller: CONTROLLER, decision });
  return history.violations;
}

describe("S25 suspension is reported", () => {
  it("accepts a Job that says whether it is suspended, and since when it is not", () => {
    expect(judge({}, { startTime })).toEqual([]);
    expect(judge({}, { startTime, conditions: resumed })).toEqual([]);
    expect(judge({ suspend: true }, { conditions: suspended })).toEqual([]);
  });

  it("refuses what is not so", () => {
    expect(judge({ suspend: true }, { conditions: resumed })).toEqual([
      "Job default/pi: is suspended, and its status says otherwise",
    ]);
    expect(judge({}, { startTime, conditions: suspended })).toEqual([
      "Job default/pi: is not suspended, and its status says otherwise",
    ]);
    expect(judge({ suspend: true }, { startTime, conditions: suspended })).toEqual([
      `Job default/pi: is suspended, and its startTime is ${startTime}`,
    ]);
    expect(judge({}, {})).toEqual(["Job default/pi: is not suspended, and has no startTime"]);
  });

  it("wants a Job to have been started no earlier than the sync began that says so first", () => {
    const startedBy = (atMs: number, plan = {}, was: JobStatus = {}): readonly string[] => {
      const history = new History(suspensionIsReported, plan);
      history.store(job(was));
      history.store(job({ startTime }), CONTROLLER);
      const decision = { key: "default/pi", uid: "uid-of-pi", plan: { pods }, atMs } as unknown as JobDecision;
      history.decide({ controller: CONTROLLER, decision });
      return history.violations;
    };
    expect(startedBy(START_MS + 999)).toEqual([]);
    expect(startedBy(START_MS + 5_000, {}, { startTime })).toEqual([]);
    expect(startedBy(START_MS + 5_000, { events: [{ at: "+1s", clockJump: "-1h" }] })).toEqual([]);
    expect(startedBy(START_MS + 5_000)).toEqual([
      "Job default/pi: is said to have been started 5 s before the sync that started it",
    ]);
  });

  it("says nothing of a sync that leaves pods alone, nor of a Job that ends", () => {
    expect(judge({ suspend: true }, { startTime }, {})).toEqual([]);
    const conditions = [condition("SuccessCriteriaMet", "CompletionsReached")];
    expect(judge({ suspend: true }, { startTime, conditions })).toEqual([]);
  });
});
