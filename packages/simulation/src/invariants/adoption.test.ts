import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { job, pod } from "../../test/objects.js";
import { adoptedPodsAreTracked, noLateAdoption } from "./adoption.js";

const component = "job-controller";
const going = { deletionTimestamp: "2026-03-02T10:00:00Z", finalizers: ["orphan"] };

describe("S20 no late adoption", () => {
  function adopt(read: "before" | "after" | "never", by = component): readonly string[] {
    const history = new History(noLateAdoption);
    const owner = history.store(job());
    const free = history.store(pod("Running", { metadata: { ownerReferences: [] } }));
    const look = (): void => {
      history.pass(1_000);
      const { name = "", namespace = "" } = owner.metadata;
      history.answer({ component, verb: "get", resource: "jobs.batch", namespace, name, code: 200 });
      history.pass(1_000);
    };
    if (read === "before") look();
    history.store({ ...owner, metadata: { ...owner.metadata, ...going } });
    if (read === "after") look();
    history.pass(3_000);
    const { name = "", uid = "" } = owner.metadata;
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name, uid, controller: true }];
    history.store({ ...free, metadata: { ...free.metadata, ownerReferences } }, by);
    return history.violations;
  }

  it("accepts one by who read the owner when it was not being deleted, or by a user", () => {
    expect(adopt("before")).toEqual([]);
    expect(adopt("never", "user")).toEqual([]);
  });

  it("accepts what the garbage collector puts back as it unblocks an owner", () => {
    expect(adopt("never", "garbage-collector-controller")).toEqual([]);
    expect(adopt("never", "cronjob-controller")).toHaveLength(1);
  });

  it.each(["never", "after"] as const)("refuses one by who read the owner %s", (read) => {
    expect(adopt(read)).toEqual([expect.stringContaining("is taken by job-controller for Job")]);
  });
});

describe("S28 adopted pods are tracked", () => {
  const changed = (from: Parameters<typeof pod>[1], to: Parameters<typeof pod>[1], by = component) => {
    const history = new History(adoptedPodsAreTracked);
    history.store(pod("Running", from));
    history.store(pod("Running", to), by);
    return history.violations;
  };
  const free = { metadata: { ownerReferences: [] } };

  it("reports a pod that is adopted without the finalizer, or released with it", () => {
    expect(changed({ ...free, tracked: false }, { tracked: false })).toEqual([
      "Pod default/a: is adopted for Job pi, and has no tracking finalizer",
    ]);
    expect(changed({}, free)).toEqual(["Pod default/a: is released from Job pi, and keeps the tracking finalizer"]);
  });

  it("accepts the reverse, pods whose owner does not change, and writes of other components", () => {
    expect(changed({ ...free, tracked: false }, {})).toEqual([]);
    expect(changed({}, { ...free, tracked: false })).toEqual([]);
    expect(changed({}, { tracked: false })).toEqual([]);
    expect(changed({}, free, "garbage-collector-controller")).toEqual([]);
  });
});
