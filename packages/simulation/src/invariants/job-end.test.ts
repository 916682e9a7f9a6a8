import type { Pod } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { condition, job, pod } from "../../test/objects.js";
import { noPodAfterTermination, terminalStatusIsFinal } from "./job-end.js";

const CONTROLLER = "job-controller";
const interim = [condition("SuccessCriteriaMet", "CompletionsReached")];
const complete = { conditions: [...interim, condition("Complete", "CompletionsReached")], succeeded: 1 };

function finishing(): History {
  const history = new History(terminalStatusIsFinal);
  history.store(job());
  history.store(pod("Succeeded", { tracked: false }), CONTROLLER);
  history.store(job({ conditions: interim }), CONTROLLER);
  return history;
}

describe("S3 terminal status is final", () => {
  it("accepts a Job that ends in two writes", () => {
    const history = finishing();
    history.store(job(complete), CONTROLLER);
    const later = job(complete);
    history.store({ ...later, metadata: { ...later.metadata, labels: { seen: "yes" } } });
    expect(history.violations).toEqual([]);
  });

  it.each([
    ["is Complete and Failed", { ...complete, conditions: [...complete.conditions, condition("Failed")] }],
    [
      "is Complete with 1 pods recorded and not counted",
      { ...complete, uncountedTerminatedPods: { succeeded: ["uid-of-a"] } },
    ],
    ["is Complete with 2 active pods", { ...complete, active: 2 }],
    ["is Complete with 1 terminating pods", { ...complete, terminating: 1 }],
    ["is Failed, and was not FailureTarget before", { conditions: [...interim, condition("Failed")] }],
  ])("refuses a Job that %s", (message, status) => {
    const history = finishing();
    history.store(job(status), CONTROLLER);
    expect(history.violations).toEqual([`Job default/pi: ${message}`]);
  });

  it("refuses an end for another reason than was decided, and one that is taken back", () => {
    const history = new History(terminalStatusIsFinal);
    const failing = [condition("FailureTarget", "PodFailurePolicy")];
    history.store(job());
    history.store(job({ conditions: failing }), CONTROLLER);
    history.store(job({ conditions: failing, failed: 1 }), CONTROLLER);
    expect(history.violations).toEqual([]);
    history.store(job({ conditions: [...failing, condition("Failed", "BackoffLimitExceeded")] }), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: is Failed (BackoffLimitExceeded), and was FailureTarget (PodFailurePolicy)",
    ]);

    const taken = finishing();
    taken.store(job({}), CONTROLLER);
    expect(taken.violations).toEqual([
      "Job default/pi: was SuccessCriteriaMet (CompletionsReached), and is not any more",
    ]);
  });

  it("refuses an end while a pod that the controller has made runs, or is not accounted for", () => {
    const running = finishing();
    running.store(pod("Running", { name: "b" }), CONTROLLER);
    running.store(job(complete), CONTROLLER);
    expect(running.violations).toEqual(["Job default/pi: is Complete while Pod default/b runs"]);

    const tracked = finishing();
    tracked.store(pod("Succeeded", { name: "b" }), CONTROLLER);
    tracked.store(job(complete), CONTROLLER);
    expect(tracked.violations).toEqual(["Job default/pi: is Complete while Pod default/b is not accounted for"]);
  });

  it("accepts a pod that the writer of the end cannot know about: its creation response was lost, or another incarnation created it (X4, X9)", () => {
    const lost = finishing();
    const created = lost.store(pod("Running", { name: "b" }), CONTROLLER);
    lost.answer({
      component: CONTROLLER,
      process: "controller-manager-1",
      code: 0,
      tookEffect: true,
      verb: "create",
      resource: "pods",
      body: created,
    });
    lost.store(job(complete), CONTROLLER);
    expect(lost.violations).toEqual([]);

    const another = finishing();
    another.store(pod("Running", { name: "b" }), { component: CONTROLLER, incarnation: 1 });
    another.store(job(complete), { component: CONTROLLER, incarnation: 2 });
    expect(another.violations).toEqual([]);
  });

  it("accepts that successes complete a Job whose last pod no cache has shown, unless syncs wait for their own writes", () => {
    const completing = (consistencyGate: boolean, reason: string): readonly string[] => {
      const history = new History(terminalStatusIsFinal, { controllers: { consistencyGate } });
      history.store(job());
      history.store(job({ conditions: [condition("SuccessCriteriaMet", reason)] }), CONTROLLER);
      history.store(pod("Running", { name: "b" }), CONTROLLER);
      const conditions = [condition("SuccessCriteriaMet", reason), condition("Complete", reason)];
      history.store(job({ conditions, succeeded: 1 }), CONTROLLER);
      return history.violations;
    };
    const reported = ["Job default/pi: is Complete while Pod default/b runs"];
    expect(completing(false, "CompletionsReached")).toEqual([]);
    expect(completing(true, "CompletionsReached")).toEqual(reported);
    // Every other end waits for the pods that were created.
    expect(completing(false, "SuccessPolicy")).toEqual(reported);
  });

  it("reports it when the sync that ends the Job has observed the pod, regardless of its cache", () => {
    const ended = (...seen: Pod[]): readonly string[] => {
      const history = new History(terminalStatusIsFinal, { controllers: { consistencyGate: false } });
      const succeeding = condition("SuccessCriteriaMet", "CompletionsReached");
      history.store(job({ conditions: [succeeding] }), CONTROLLER);
      history.store(pod("Succeeded", { name: "b" }), CONTROLLER);
      history.store(job({ conditions: [succeeding, condition("Complete", "CompletionsReached")] }), CONTROLLER);
      expect(history.violations).toEqual([]);
      const plan = { observed: { active: [], tracked: seen } };
      history.decide({ controller: CONTROLLER, decision: { uid: "uid-of-pi", plan } as unknown as JobDecision });
      return history.violations;
    };
    expect(ended(pod("Succeeded", { name: "b" }))).toEqual([
      "Job default/pi: is Complete while Pod default/b is not accounted for",
    ]);
    expect(ended(pod("Succeeded", { name: "a" }))).toEqual([]);
  });

  it("refuses that a status changes after the end", () => {
    const history = finishing();
    history.store(job(complete), CONTROLLER);
    history.store(job({ ...complete, succeeded: 2 }), CONTROLLER);
    expect(history.violations).toEqual([
      "Job default/pi: its status changes after it was Complete (CompletionsReached)",
    ]);
  });
});

describe("S4 no pod after termination", () => {
  it("refuses a pod for a finished Job", () => {
    const history = new History(noPodAfterTermination);
    history.store(job());
    history.store(job(complete), CONTROLLER);
    history.pass(1000);
    history.store(pod(), CONTROLLER);
    expect(history.violations).toEqual(["Job default/pi: gets Pod default/a, 1000 ms after it was Complete"]);
  });

  it("accepts one that another life of the controller has sent before (X9)", () => {
    const history = new History(noPodAfterTermination);
    history.store(job());
    const sentMs = history.nowMs;
    history.pass(1000);
    history.store(job(complete), { component: CONTROLLER, process: "b" });
    history.store(pod(), { component: CONTROLLER, process: "a", sentMs });
    expect(history.violations).toEqual([]);
  });

  it("accepts one where the answer to the write of the end was lost, until a cache shows it, and syncs do not wait for that", () => {
    const ended = (consistencyGate: boolean, code: number, isShown: boolean): readonly string[] => {
      const history = new History(noPodAfterTermination, { controllers: { consistencyGate } });
      history.store(job());
      const finished = history.store(job(complete), CONTROLLER);
      history.answer({ component: CONTROLLER, resource: "jobs.batch", name: "pi", code, tookEffect: true });
      if (isShown) history.show(finished, { component: CONTROLLER, type: "update" });
      history.pass(1000);
      history.store(pod(), CONTROLLER);
      return history.violations;
    };
    expect(ended(false, 504, false)).toEqual([]);
    expect(ended(true, 504, false)).toHaveLength(1);
    expect(ended(false, 200, false)).toHaveLength(1);
    expect(ended(false, 504, true)).toHaveLength(1);
  });

  it("says nothing of pods that others make", () => {
    const history = new History(noPodAfterTermination);
    history.store(job(complete));
    history.store(pod(), "user");
    expect(history.violations).toEqual([]);
  });
});
