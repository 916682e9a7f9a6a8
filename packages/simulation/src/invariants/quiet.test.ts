import type { KubernetesObject } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import type { FaultPlan } from "../fault-plan.js";
import { cronJob, job } from "../../test/objects.js";
import { clusterQuiesces, noHotLoop } from "./quiet.js";

describe("L7 no hot loop", () => {
  const decided = (history: History): void =>
    history.decide({
      controller: "cronjob-controller",
      decision: {
        key: "default/tick" as never,
        atMs: history.nowMs,
        outcome: "notDue",
        reason: "notDue",
        message: "",
        missed: [],
      },
    });

  it("refuses more than 20 looks at one instant, and more than 200 in a minute", () => {
    const instant = new History(noHotLoop);
    for (let i = 0; i < 30; i++) decided(instant);
    expect(instant.violations).toEqual([
      "default/tick: cronjob-controller looks at it 21 times at one instant, and changes nothing",
    ]);
    const minute = new History(noHotLoop);
    for (let i = 0; i < 220; i++) {
      minute.pass(200);
      decided(minute);
    }
    expect(minute.violations).toEqual([
      "default/tick: cronjob-controller looks at it 201 times in a minute, and changes nothing",
    ]);
  });

  it("accepts as many when they change something, or take longer", () => {
    const history = new History(noHotLoop);
    for (let i = 0; i < 100; i++) {
      decided(history);
      history.store(cronJob({}, { lastScheduleTime: `${i}` }), "cronjob-controller");
    }
    for (let i = 0; i < 500; i++) {
      history.pass(400);
      decided(history);
    }
    expect(history.violations).toEqual([]);
  });

  it("accepts a look for each of many Jobs that a CronJob owns", () => {
    const history = new History(noHotLoop);
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
    for (let i = 0; i < 30; i++) {
      const made = job({}, {}, `tick-${i}`);
      const owned = { ...made, metadata: { ...made.metadata, namespace: "default", ownerReferences: [owner] } };
      history.show(owned, { component: "cronjob-controller", type: "update" });
      decided(history);
    }
    expect(history.violations).toEqual([]);
  });

  it("accepts that a Job is refused at each news of others of its owner, and not without any", () => {
    const refused = (hasNews: boolean): readonly string[] => {
      const history = new History(noHotLoop);
      const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "uid-of-tick", controller: true };
      const owned = (name: string): KubernetesObject => {
        const made = job({}, {}, name);
        return { ...made, metadata: { ...made.metadata, namespace: "default", ownerReferences: [owner] } };
      };
      const request = { component: "cronjob-controller", verb: "create", resource: "jobs.batch", name: "", code: 403 };
      for (let i = 0; i < 30; i++) {
        if (hasNews) history.show(owned("tick-1"), { component: "cronjob-controller", type: "update" });
        history.answer({ ...request, body: owned("tick-2") });
      }
      return history.violations;
    };
    expect(refused(true)).toEqual([]);
    expect(refused(false)).toEqual([
      "jobs.batch default/tick-2: cronjob-controller sends create 21 times at one instant, and changes nothing",
    ]);
  });

  it("accepts a look for each of many objects that it owned until then, and not for those of others", () => {
    const looksAfterLossesOf = (name: string): readonly string[] => {
      const history = new History(noHotLoop);
      const owner = { apiVersion: "batch/v1", kind: "CronJob", name, uid: `uid-of-${name}`, controller: true };
      for (let i = 0; i < 30; i++) {
        const made = job({}, {}, `${name}-${i}`);
        const object = { ...made, metadata: { ...made.metadata, namespace: "default" } };
        const previous = { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
        history.show(object, { component: "cronjob-controller", type: "update", previous });
        decided(history);
      }
      return history.violations;
    };
    expect(looksAfterLossesOf("tick")).toEqual([]);
    expect(looksAfterLossesOf("tock")).toHaveLength(1);
  });

  it("refuses the same write again and again, and not pods that are made in one instant", () => {
    const history = new History(noHotLoop);
    const write = { component: "job-controller", verb: "update", resource: "jobs.batch", name: "pi", code: 409 };
    for (let i = 0; i < 30; i++) history.answer(write);
    for (let i = 0; i < 30; i++) history.answer({ ...write, verb: "create", resource: "pods", name: "", code: 201 });
    expect(history.violations).toEqual([
      "jobs.batch default/pi: job-controller sends update 21 times at one instant, and changes nothing",
    ]);
  });
});

describe("G1 the cluster quiesces", () => {
  /** Changes a Job, and with it the status of a quota, all the time. */
  function restless(plan: Partial<FaultPlan> = {}): readonly string[] {
    const history = new History(clusterQuiesces, plan);
    for (let i = 0; i < 400; i++) {
      history.pass(2000);
      history.store(job({ active: i }), "job-controller");
      history.store(job({ active: i, ready: 1 }), "user");
      history.store(configMap(`${i}`), { component: "job-controller", process: "m", resource: "pods" });
    }
    return history.violations;
  }

  it("reports an object that still changes long after the last fault", () => {
    expect(restless()).toEqual(["Job default/pi: job-controller has changed it 131 times in an hour"]);
  });

  it("accepts it of Jobs whose back-off a wrong clock takes for over", () => {
    expect(restless({ events: [{ at: "1m", clockJump: "+3h" }] })).toEqual([]);
  });
});

function configMap(value: string): KubernetesObject & { readonly data: Record<string, string> } {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "usage" }, data: { value } };
}
