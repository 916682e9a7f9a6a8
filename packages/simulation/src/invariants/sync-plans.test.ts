import type { Job, Pod } from "@kubewright/api";
import { planJob } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { condition, job, pod } from "../../test/objects.js";
import type { ReportedDecision } from "../world.js";
import { noOverDeletion, statusMatchesObservedPods } from "./sync-plans.js";

const CONTROLLER = "job-controller";

type Reported = Extract<ReportedDecision, { controller: "job-controller" }>;

/** Returns the Job controller's decision with changes. */
function decision(
  owner: Job,
  pods: readonly Pod[],
  nowMs: number,
  pods_: object = {},
): Pick<Reported, "controller" | "decision"> {
  const stored = { ...owner, spec: { ...owner.spec!, selector: {} } };
  const plan = planJob({
    job: stored,
    pods,
    expectationsSatisfied: true,
    finalizersBeingRemoved: new Set(),
    backoff: { failuresAfterLastSuccess: 0 },
    nowMs,
  });
  const changed = plan.pods === undefined ? plan : { ...plan, pods: { ...plan.pods, ...pods_ } };
  return {
    controller: CONTROLLER,
    decision: {
      key: "default/pi" as never,
      uid: "uid-of-pi",
      atMs: nowMs,
      action: plan.action,
      plan: changed,
      reasons: [],
      statusWrites: 1,
    },
  };
}

describe("S8 no over-deletion", () => {
  const three = ["a", "b", "c"].map((name) => pod("Running", { name }));

  function judge(owner: Job, pods: readonly Pod[], changed: object): readonly string[] {
    const history = new History(noOverDeletion);
    history.store(owner);
    history.decide(decision(owner, pods, history.nowMs, changed));
    return history.violations;
  }

  it("accepts what the controller decides", () => {
    expect(judge(job({}, { parallelism: 2, completions: 5 }), three, {})).toEqual([]);
    expect(judge(job({}, { parallelism: 5, completions: 5 }), three, {})).toEqual([]);
    expect(judge(job({}, { suspend: true }), three, {})).toEqual([]);
    const twice = [pod("Running", { index: 0 }), pod("Running", { name: "b", index: 0 })];
    expect(judge(job({}, { completionMode: "Indexed", parallelism: 2, completions: 2 }), twice, {})).toEqual([]);
  });

  it("refuses to remove more than is too much, and to create more than is missing", () => {
    expect(judge(job({}, { parallelism: 2, completions: 5 }), three, { remove: three })).toEqual([
      "Job default/pi: removes 3 of 3 active pods, and 1 are too many",
    ]);
    expect(judge(job({}, { parallelism: 4, completions: 5 }), three, { create: [{}, {}] })).toEqual([
      "Job default/pi: creates 2 pods beside 3, and 1 are missing",
    ]);
  });

  it("counts terminating pods where only failed ones are replaced", () => {
    const going = pod("Running", { name: "g", metadata: { deletionTimestamp: "2026-03-02T10:00:30Z" } });
    const owner = job({}, { parallelism: 4, completions: 5, podReplacementPolicy: "Failed" });
    expect(judge(owner, [...three, going], { create: [{}] })).toHaveLength(1);
  });
});

describe("S3b status matches observed pods", () => {
  const owner = job({}, { parallelism: 2, completions: 2 });
  const seen = [pod("Running")];

  it("accepts what is observed, with what was created", () => {
    const history = new History(statusMatchesObservedPods);
    history.store(owner);
    const body = history.store(pod("Running", { name: "b" }), CONTROLLER);
    history.answer({
      component: CONTROLLER,
      process: "controller-manager-1",
      verb: "create",
      resource: "pods",
      body,
      code: 201,
    });
    history.store(job({ active: 2, ready: 0, terminating: 0 }, owner.spec), CONTROLLER);
    history.decide(decision(owner, seen, history.nowMs));
    expect(history.violations).toEqual([]);
  });

  it("treats pods that a finalizer patch finds missing as gone before the status is written, and not after", () => {
    for (const [foundFirst, count] of [
      [true, 1],
      [false, 0],
    ] as const) {
      const history = new History(statusMatchesObservedPods);
      history.store(owner);
      history.store(pod("Running"), CONTROLLER);
      const find = (): void =>
        history.answer({ component: CONTROLLER, verb: "patch", resource: "pods", name: "a", code: 404 });
      if (foundFirst) find();
      history.store(job({ active: 1, ready: 0, terminating: 0 }, owner.spec), CONTROLLER);
      if (!foundFirst) find();
      history.decide(decision(owner, seen, history.nowMs));
      expect(history.violations).toHaveLength(count);
    }
  });

  it("takes a pod for gone when its own Job finds it gone, and not when another does that would adopt it", () => {
    for (const [uid, count] of [
      [owner.metadata.uid, 1],
      ["uid of another", 0],
    ] as const) {
      const history = new History(statusMatchesObservedPods);
      history.store(owner);
      history.store(pod("Running"), CONTROLLER);
      const body = { metadata: { ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "pi", uid }] } };
      history.answer({ component: CONTROLLER, verb: "patch", resource: "pods", name: "a", body, code: 404 });
      history.store(job({ active: 1, ready: 0, terminating: 0 }, owner.spec), CONTROLLER);
      history.decide(decision(owner, seen, history.nowMs));
      expect(history.violations).toHaveLength(count);
    }
  });

  it("checks no sync that observed a pod whose owner has changed, and every other one", () => {
    for (const [ownerReferences, count] of [
      [[], 0],
      [undefined, 1],
    ] as const) {
      const history = new History(statusMatchesObservedPods);
      history.store(owner);
      history.store(pod("Running"), CONTROLLER);
      history.store(pod("Running", ownerReferences === undefined ? {} : { metadata: { ownerReferences: [] } }), "user");
      history.store(job({ active: 0, ready: 0, terminating: 1 }, owner.spec), CONTROLLER);
      history.decide(decision(owner, seen, history.nowMs));
      expect(history.violations).toHaveLength(count);
    }
  });

  it("accepts fewer when pods were deleted, and were not there any more", () => {
    const history = new History(statusMatchesObservedPods);
    history.store(owner);
    const gone = { component: CONTROLLER, process: "controller-manager-1", verb: "delete", resource: "pods" };
    for (const name of ["a", "b"]) history.store(pod("Running", { name }), CONTROLLER);
    history.answer({ ...gone, name: "a", code: 200 });
    history.answer({ ...gone, name: "b", code: 404 });
    history.store(job({ active: 0, terminating: 2 }, owner.spec), CONTROLLER);
    history.decide(decision(job({}, { suspend: true }), [...seen, pod("Running", { name: "b" })], history.nowMs));
    expect(history.violations).toEqual([]);
  });

  it("refuses to leave pods of a Job that is to end, unless that was refused", () => {
    const ending = (code: number | undefined, error?: unknown): readonly string[] => {
      const history = new History(statusMatchesObservedPods);
      history.store(owner);
      history.store(pod("Running"), CONTROLLER);
      if (code !== undefined)
        history.answer({ component: CONTROLLER, verb: "delete", resource: "pods", name: "a", code });
      const ended = job({ conditions: [condition("FailureTarget")] }, owner.spec);
      const reported = decision(ended, seen, history.nowMs);
      history.decide({ ...reported, decision: { ...reported.decision, ...(error === undefined ? {} : { error }) } });
      return history.violations;
    };
    expect([ending(200), ending(404), ending(500, "refused")]).toEqual([[], [], []]);
    expect(ending(undefined)).toEqual(["Job default/pi: it is to end, and the sync has left 1 active pods"]);
  });

  it.each([
    [{ active: 0 }, "0 active, 0 ready and 0 terminating"],
    [{ active: 1, ready: 1 }, "1 active, 1 ready and 0 terminating"],
    [{ active: 1, terminating: 1 }, "1 active, 0 ready and 1 terminating"],
  ])("refuses %o", (status, message) => {
    const history = new History(statusMatchesObservedPods);
    history.store(owner);
    history.store(job(status, owner.spec), CONTROLLER);
    history.decide(decision(owner, seen, history.nowMs));
    expect(history.violations).toEqual([
      `Job default/pi: its status says ${message} pods, and the sync has left 1, 0 and 0`,
    ]);
  });

  it("accepts pods that a namespace which ends has refused (X6)", () => {
    const history = new History(statusMatchesObservedPods);
    history.store(owner);
    const body = pod("Running", { name: "b" });
    const request = { component: CONTROLLER, process: "controller-manager-1", verb: "create", resource: "pods", body };
    history.answer({ ...request, code: 403, message: "the namespace is being terminated" });
    history.store(job({ active: 2 }, owner.spec), CONTROLLER);
    history.decide(decision(owner, seen, history.nowMs));
    expect(history.violations).toEqual([]);
  });
});
