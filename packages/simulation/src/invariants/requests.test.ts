import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { noCrash, noInvalidWrite } from "./requests.js";

const refused = {
  component: "job-controller",
  verb: "update",
  resource: "jobs.batch",
  subresource: "status",
  name: "pi",
};

describe("S9 no invalid write", () => {
  it.each([400, 422, 403])("refuses an answer %d to a controller", (code) => {
    const history = new History(noInvalidWrite);
    history.answer({ ...refused, code, message: "no" });
    expect(history.violations).toEqual([
      `jobs.batch default/pi: job-controller is answered ${code} to update jobs.batch/status: no`,
    ]);
  });

  it("judges what candidates to lead are answered as well", () => {
    const history = new History(noInvalidWrite);
    const lease = { verb: "update", resource: "leases.coordination.k8s.io", subresource: "", name: "manager" };
    history.answer({ ...lease, component: "election of controller-manager-1", code: 422, message: "no" });
    expect(history.violations).toHaveLength(1);
  });

  it.each([
    ["a fault gave it", { code: 422, injected: true }],
    ["it is a conflict", { code: 409 }],
    ["it was not a controller", { code: 422, component: "kubelet" }],
    ["a quota was full", { code: 403, message: 'pods "a" is forbidden: exceeded quota: q' }],
    ["the namespace ends", { code: 403, message: "because it is being terminated" }],
    ["a webhook denied it", { code: 403, message: 'admission webhook "w" denied the request' }],
    ["a patch meant another object", { code: 422, verb: "patch", message: "metadata.uid: Invalid value: x" }],
    [
      "another controller was first to adopt a pod",
      { code: 422, verb: "patch", message: "Only one reference can have Controller set to true" },
    ],
    [
      "a pod was deleted before it was adopted",
      { code: 422, verb: "patch", message: "no new finalizers can be added if the object is being deleted" },
    ],
  ])("accepts it when %s", (_why, answer) => {
    const history = new History(noInvalidWrite);
    history.answer({ ...refused, ...answer });
    expect(history.violations).toEqual([]);
  });
});

describe("S10 no crash", () => {
  it("refuses what a mistake throws, also as a cause, and what is no error", () => {
    const history = new History(noCrash);
    history.fail(new TypeError("x is undefined"));
    history.fail(new Error("sync failed", { cause: new RangeError("too far") }));
    history.fail(new AggregateError([new Error("fine"), new ReferenceError("y")]));
    history.fail("gone");
    expect(history.violations).toEqual([
      "job-controller: throws TypeError: x is undefined",
      "job-controller: throws RangeError: too far",
      "job-controller: throws ReferenceError: y",
      "job-controller: throws what is no error: gone",
    ]);
  });

  it("accepts errors that say what was refused", () => {
    const history = new History(noCrash);
    history.fail(new Error("unable to delete pods: conflict", { cause: new Error("conflict") }));
    expect(history.violations).toEqual([]);
  });
});
