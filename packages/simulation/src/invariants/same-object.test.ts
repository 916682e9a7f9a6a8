import { expect, it } from "vitest";

import { History } from "../../test/history.js";
import { pod } from "../../test/objects.js";
import { sameObject } from "./same-object.js";

const component = "pod-garbage-collector-controller";
const first = pod("Running", { metadata: { uid: "first" } });
const second = pod("Running", { metadata: { uid: "second" } });

/** Returns a history in which a second object has taken the name of the first, which the controller has observed. */
function taken(): History {
  const history = new History(sameObject);
  history.store(first);
  history.show(first, { component });
  history.remove(first);
  history.store(second);
  return history;
}

it("refuses to delete, or change, what has taken the name since", () => {
  const deleted = taken();
  deleted.remove(second, component);
  const changed = taken();
  changed.store(pod("Failed", { metadata: { uid: "second" } }), component);
  expect([...deleted.violations, ...changed.violations]).toEqual([
    `Pod default/a: is deleted by ${component}, which has seen only another object of that name`,
    `Pod default/a: is changed by ${component}, which has seen only another object of that name`,
  ]);
});

it("accepts it when the controller was shown the other, has read it, or another life of it had seen the first", () => {
  const shown = taken();
  shown.show(second, { component, type: "update", previous: first });
  shown.remove(second, component);
  const read = taken();
  const get = { component, process: "controller-manager-1", verb: "get", resource: "pods", name: "a", code: 200 };
  read.answer(get);
  read.remove(second, component);
  const another = taken();
  another.remove(second, { component, process: "controller-manager-1", incarnation: 2 });
  expect([...shown.violations, ...read.violations, ...another.violations]).toEqual([]);
});

it("checks no resource whose cache events are not reported", () => {
  const history = new History(sameObject);
  history.store(first);
  const get = { component, process: "controller-manager-1", verb: "get", resource: "pods", name: "a", code: 200 };
  history.answer(get);
  history.remove(first);
  history.store(second);
  history.remove(second, component);
  expect(history.violations).toEqual([]);
});
