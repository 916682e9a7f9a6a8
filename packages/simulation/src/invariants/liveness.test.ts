import type { CronJob, Job, JobSpec } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { condition, cronJob, job, pod } from "../../test/objects.js";
import { cronJobsProgress, historyLimitsConverge } from "./cron-liveness.js";
import { retriesContinue, jobsProgress, noStuckFinalizer } from "./job-liveness.js";

const CONTROLLER = "job-controller";
const deletionTimestamp = "2026-03-02T10:00:00Z";
const complete = { conditions: [condition("Complete")] };

describe("L2 no stuck finalizer", () => {
  function rested(make: (history: History) => void): readonly string[] {
    const history = new History(noStuckFinalizer);
    make(history);
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(121_000);
    history.rest();
    return history.violations;
  }

  it("refuses a pod that keeps it when its Job has finished, or is gone and the pod deleted", () => {
    expect(
      rested((history) => {
        history.store(job());
        history.store(pod("Succeeded"), CONTROLLER);
        history.store(job(complete), CONTROLLER);
      }),
    ).toEqual(["Pod default/a: keeps batch.kubernetes.io/job-tracking, and its Job default/pi has finished"]);
    expect(
      rested((history) => {
        history.store(job());
        history.store(pod("Running", { metadata: { deletionTimestamp } }), CONTROLLER);
        history.remove(job());
      }),
    ).toEqual(["Pod default/a: keeps batch.kubernetes.io/job-tracking, and its Job default/pi is gone"]);
  });

  it("accepts a pod that a deleted Job no longer selects: no sync handles it", () => {
    const pods = { metadata: { deletionTimestamp, labels: { app: "other" } } };
    const going = job();
    expect(
      rested((history) => {
        history.store(going);
        history.store(pod("Running", pods), CONTROLLER);
        history.store({ ...going, metadata: { ...going.metadata, deletionTimestamp } });
      }),
    ).toEqual([]);
    expect(
      rested((history) => {
        history.store(going);
        history.store(pod("Running", pods), CONTROLLER);
        history.remove(going);
      }),
    ).toEqual([]);
  });

  it("refuses a pod that keeps it when its Job is being deleted", () => {
    const going = job();
    expect(
      rested((history) => {
        history.store(going);
        history.store(pod("Failed"), CONTROLLER);
        history.store({ ...going, metadata: { ...going.metadata, deletionTimestamp } });
      }),
    ).toEqual(["Pod default/a: keeps batch.kubernetes.io/job-tracking, and its Job default/pi is being deleted"]);
  });

  it("accepts a pod whose Job is unfinished, or managed by another controller", () => {
    expect(
      rested((history) => {
        history.store(job());
        history.store(pod("Running"), CONTROLLER);
        history.store(job(complete, { managedBy: "example.com/other" }, "other"));
        history.store(pod("Running", { name: "b", of: "other" }));
      }),
    ).toEqual([]);
  });
});

describe("L1 Jobs make progress", () => {
  function rested(make: (history: History) => void, waitMs = 700_000): readonly string[] {
    const history = new History(jobsProgress);
    make(history);
    history.pass(waitMs);
    history.rest();
    return history.violations;
  }
  const started = { startTime: new Date(START_MS).toISOString() };

  it.each<[string, Job]>([
    ["is FailureTarget and does not finish", job({ conditions: [condition("FailureTarget")] })],
    ["has failed 3 times, and its limit is 2", job({ failed: 3 }, { backoffLimit: 2 })],
    ["has been active for 700 s, and its deadline is 60 s", job(started, { activeDeadlineSeconds: 60 })],
    ["has as many successes as it wants, and does not complete", job({ succeeded: 2 }, { completions: 2 })],
    ["has 0 active pods and wants 2", job({ succeeded: 1 }, { completions: 5, parallelism: 2 })],
  ])("refuses a Job that %s", (message, stored) => {
    expect(rested((history) => history.store(stored))).toEqual([`Job default/pi: ${message}`]);
  });

  it("accepts a Job that waits for a pod which went before it was seen, where syncs do not wait for their caches", () => {
    const waiting = (consistencyGate: boolean, seen: "coming" | "going"): readonly string[] => {
      const history = new History(jobsProgress, { controllers: { consistencyGate } });
      history.store(job({ succeeded: 1 }, { completions: 5 }));
      history.store(pod("Succeeded"), CONTROLLER);
      const gone = pod("Succeeded", { metadata: { deletionTimestamp } });
      history.store(gone, "user");
      history.show(seen === "coming" ? pod("Succeeded") : gone, { component: CONTROLLER });
      history.remove(gone, CONTROLLER);
      history.pass(700_000);
      history.rest();
      return history.violations;
    };
    expect(waiting(false, "going")).toEqual([]);
    expect(waiting(true, "going")).toHaveLength(1);
    expect(waiting(false, "coming")).toHaveLength(1);
  });

  it("accepts a Job that waits for the end of a pod which it has adopted, where syncs do not wait for their caches", () => {
    const waiting = (consistencyGate: boolean, isGone: boolean): readonly string[] => {
      const history = new History(jobsProgress, { controllers: { consistencyGate } });
      history.store(job({ conditions: [condition("SuccessCriteriaMet")] }));
      history.store(pod("Succeeded"), "user");
      if (isGone) history.remove(pod("Succeeded"), CONTROLLER);
      history.pass(700_000);
      history.rest();
      return history.violations;
    };
    expect(waiting(false, true)).toEqual([]);
    expect(waiting(true, true)).toHaveLength(1);
    expect(waiting(false, false)).toHaveLength(1);
  });

  it("reports a suspended Job whose pods still run", () => {
    expect(
      rested((history) => {
        history.store(job({}, { suspend: true }));
        history.store(pod(), CONTROLLER);
      }),
    ).toEqual(["Job default/pi: is suspended, and its pods still run"]);
  });

  it("reports a Job whose container restarts have reached its limit, and continue", () => {
    const crashing = (restartCount: number, backoffLimit: number): readonly string[] => {
      const history = new History(jobsProgress);
      const { template } = job().spec!;
      const onFailure = { ...template, spec: { ...template.spec!, restartPolicy: "OnFailure" } };
      history.store(job({}, { backoffLimit, template: onFailure }));
      const again = (count: number): void => {
        const ready = { name: "main", image: "main", imageID: "", ready: true };
        history.store(
          pod("Running", { status: { containerStatuses: [{ ...ready, restartCount: count }] } }),
          CONTROLLER,
        );
      };
      again(restartCount);
      history.pass(121_000);
      again(restartCount);
      history.rest();
      return history.violations;
    };
    const message = "Job default/pi: is unfinished, and container restarts exceed its limit";
    expect(crashing(2, 2)).toEqual([message]);
    expect(crashing(1, 0)).toEqual([message]);
    expect(crashing(0, 0)).toEqual([]);
    expect(crashing(1, 2)).toEqual([]);
  });

  it("accepts Jobs that are finished, suspended, deleted, run, wait for a pod to end (X15), or are short of quota", () => {
    expect(rested((history) => history.store(job(complete)))).toEqual([]);
    expect(rested((history) => history.store(job({}, { suspend: true })))).toEqual([]);
    const deleted = job();
    deleted.metadata = { ...deleted.metadata, deletionTimestamp };
    expect(rested((history) => history.store(deleted))).toEqual([]);
    expect(
      rested((history) => {
        history.store(job());
        history.store(pod(), CONTROLLER);
      }),
    ).toEqual([]);
    expect(
      rested((history) => {
        history.store(job({ conditions: [condition("FailureTarget")] }));
        history.store(pod("Running", { metadata: { deletionTimestamp } }), CONTROLLER);
      }),
    ).toEqual([]);
    expect(
      rested((history) => {
        history.store(job());
        history.answer({ component: CONTROLLER, verb: "create", resource: "pods", code: 403 });
      }),
    ).toEqual([]);
  });

  it("says nothing of pods, or deadlines, where a clock may be wrong", () => {
    const history = new History(jobsProgress, { events: [{ at: "1m", clockJump: "-3h" }] });
    history.store(job());
    history.pass(700_000);
    history.rest();
    expect(history.violations).toEqual([]);
  });

  it("accepts a Job that waits for its back-off, as long as so many failures take", () => {
    const failing =
      (failures: number, spec: Partial<JobSpec> = {}) =>
      (history: History): void => {
        history.store(job({}, spec));
        for (let number = 1; number <= failures; number++)
          history.store(pod("Failed", { name: `a${number}` }), CONTROLLER);
      };
    expect(rested(failing(7), 600_000)).toEqual([]);
    expect(rested(failing(7))).toHaveLength(1);
    expect(rested(failing(4), 125_000)).toHaveLength(1);
    expect(rested(failing(5), 125_000)).toEqual([]);
    // Failures that a policy ignores may have been counted more than once.
    expect(rested(failing(1, { podFailurePolicy: { rules: [] } }), 600_000)).toEqual([]);
    expect(rested(failing(1, { podFailurePolicy: { rules: [] } }))).toHaveLength(1);
  });
});

describe("L9 retries continue", () => {
  const refused = (history: History, code = 500): void =>
    history.answer({
      component: CONTROLLER,
      verb: "create",
      resource: "pods",
      body: pod(),
      code,
    });

  it("refuses that a Job waits longer than 65 s for another try, and 30 s to hear of it", () => {
    const history = new History(retriesContinue);
    history.store(job());
    refused(history);
    history.pass(90_000);
    expect(history.violations).toEqual([]);
    history.pass(10_000);
    expect(history.violations).toEqual(["Job default/pi: has waited 100 s to try again to create its pods"]);
  });

  it("accepts that there is no retry until a crashed controller restarts", () => {
    const after = (code: number, restartAfter?: string): readonly string[] => {
      const crash = { controller: CONTROLLER, verbs: ["create"], nth: 3, ...(restartAfter && { restartAfter }) };
      const history = new History(retriesContinue, {
        events: [{ at: "+0s", for: "1h", controllerCrashes: crash }],
      });
      history.happen(0, "controllerCrashes", "begin");
      history.store(job());
      history.pass(600_000);
      refused(history, code);
      history.pass(200_000);
      return history.violations;
    };
    expect(after(0, "3m")).toEqual([]);
    expect(after(500, "3m")).toHaveLength(1);
    expect(after(0)).toHaveLength(1);
  });

  it("accepts that requests for other Jobs hold its worker up", () => {
    const history = new History(retriesContinue);
    history.store(job());
    refused(history);
    history.pass(90_000);
    const sentMs = history.nowMs - 30_000;
    history.answer({ component: CONTROLLER, verb: "get", resource: "jobs.batch", name: "other", code: 0, sentMs });
    history.pass(90_000);
    expect(history.violations).toEqual([]);
  });

  it("refuses that it waits as long to delete pods of which there are too many", () => {
    const waits = (suspend: boolean): readonly string[] => {
      const history = new History(retriesContinue);
      history.store(job({}, { suspend }));
      history.store(pod(), CONTROLLER);
      history.answer({ component: CONTROLLER, verb: "delete", resource: "pods", name: "a", code: 500 });
      history.pass(100_000);
      return history.violations;
    };
    expect(waits(true)).toEqual(["Job default/pi: has waited 100 s to try again to delete its pods"]);
    expect(waits(false)).toEqual([]);
  });

  it("accepts that there is no retry until a crashed controller restarts, and reports it from then on", () => {
    const history = new History(retriesContinue, {
      events: [{ at: "1s", controllerCrashes: { controller: CONTROLLER, restartAfter: "3m" } }],
    });
    history.store(job());
    refused(history);
    history.happen(0, "controllerCrashes", "begin");
    history.happen(0, "requestFails", "end");
    history.pass(180_000);
    expect(history.violations).toEqual([]);
    history.pass(100_000);
    expect(history.violations).toHaveLength(1);
  });

  it("accepts it when there was another try, the Job wants none, something else is refused, or goes wrong", () => {
    const tried = new History(retriesContinue);
    tried.store(job());
    refused(tried);
    refused(tried, 201);
    const wantsNone = new History(retriesContinue);
    wantsNone.store(job({}, { suspend: true }));
    refused(wantsNone);
    const wrong = new History(retriesContinue, { events: [{ at: "1s", for: "5m", paused: "m" }] });
    wrong.store(job());
    refused(wrong);
    wrong.happen(0, "paused", "begin");
    for (const history of [tried, wantsNone, wrong]) {
      history.pass(100_000);
      expect(history.violations).toEqual([]);
    }
    const other = new History(retriesContinue);
    other.store(job());
    refused(other);
    other.pass(60_000);
    other.answer({ component: CONTROLLER, verb: "update", resource: "jobs.batch", name: "pi", code: 409 });
    other.pass(60_000);
    expect(other.violations).toEqual([]);
  });
});

describe("L5 CronJobs make progress", () => {
  function rested(stored: CronJob, waitMs = 200_000, then?: (history: History) => void): readonly string[] {
    const history = new History(cronJobsProgress);
    history.store(stored);
    then?.(history);
    history.pass(waitMs);
    history.rest();
    return history.violations;
  }

  it("refuses a slot that is not started within a period", () => {
    expect(rested(cronJob(), 129_000)).toEqual([]);
    expect(rested(cronJob(), 131_000)).toEqual([
      "CronJob default/tick: has not started the slot of 2026-03-02T10:01:00.000Z, nor a later one",
    ]);
    expect(rested(cronJob({ schedule: "@every 1m" }))).toHaveLength(1);
  });

  it("accepts that it is forbidden for as long as a Job is active, and refuses it when that has ended", () => {
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
    const run = (status: Job["status"]): Job => {
      const made = job(status, {}, "run");
      return { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } };
    };
    const active = [{ kind: "Job", name: "run", uid: "uid-of-run" }];
    const forbidding = (history: History): void => {
      history.store(run({}), "cronjob-controller");
      history.store(cronJob({ concurrencyPolicy: "Forbid" }, { active }), "cronjob-controller");
    };
    expect(rested(cronJob({ concurrencyPolicy: "Forbid" }), 600_000, forbidding)).toEqual([]);
    const ended = (history: History): void => {
      forbidding(history);
      history.store(run(complete), CONTROLLER);
    };
    expect(rested(cronJob({ concurrencyPolicy: "Forbid" }), 600_000, ended)).toHaveLength(1);
  });

  it("accepts one that makes progress, is suspended, has a short deadline, or forbids it for a Job that is active", () => {
    expect(rested(cronJob({}, { lastScheduleTime: "2026-03-02T10:02:00Z" }))).toEqual([]);
    expect(rested(cronJob({ suspend: true }))).toEqual([]);
    expect(rested(cronJob({ startingDeadlineSeconds: 5 }))).toEqual([]);
    expect(
      rested(cronJob(), 131_000, (history) =>
        history.answer({
          component: "cronjob-controller",
          code: 403,
          verb: "create",
          resource: "jobs.batch",
          name: "tick-9",
          atMs: START_MS + 100_000,
        }),
      ),
    ).toEqual([]);
  });
});

describe("L6 history limits converge", () => {
  it("refuses more finished Jobs than the limit, a minute after the last has ended", () => {
    const history = new History(historyLimitsConverge);
    history.store(cronJob({ successfulJobsHistoryLimit: 1 }));
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
    for (const name of ["a", "b"]) {
      const run = job(complete, {}, name);
      history.store({ ...run, metadata: { ...run.metadata, ownerReferences: [owner] } }, "cronjob-controller");
    }
    history.pass(50_000);
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(20_000);
    // Old Jobs are deleted before new ones are created.
    history.answer({
      component: "cronjob-controller",
      verb: "create",
      resource: "jobs.batch",
      name: "tick-1",
      code: 403,
    });
    history.rest();
    expect(history.violations).toEqual(["CronJob default/tick: keeps 2 Jobs that are Complete, and its limit is 1"]);
  });

  it("accepts what was refused to be deleted until the next slot", () => {
    const kept = (schedule: string, suspend = false): readonly string[] => {
      const history = new History(historyLimitsConverge);
      history.store(cronJob({ schedule, suspend, successfulJobsHistoryLimit: 0 }));
      const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
      const run = job(complete, {}, "tick-9");
      history.store({ ...run, metadata: { ...run.metadata, ownerReferences: [owner] } }, "cronjob-controller");
      history.pass(1_000);
      history.answer({
        component: "cronjob-controller",
        verb: "delete",
        resource: "jobs.batch",
        name: "tick-9",
        code: 500,
      });
      history.pass(600_000);
      history.rest();
      return history.violations;
    };
    expect(kept("* * * * *")).toHaveLength(1);
    expect(kept("0 0 31 * *")).toEqual([]);
    expect(kept("* * * * *", true)).toEqual([]);
  });
});
