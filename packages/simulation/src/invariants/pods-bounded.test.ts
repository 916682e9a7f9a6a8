import { expect, it } from "vitest";

import { History } from "../../test/history.js";
import { job, pod } from "../../test/objects.js";
import { boundedPods } from "./pods-bounded.js";

const CONTROLLER = "job-controller";
const two = { parallelism: 2, completions: 2 };

it("accepts as many pods as the parallelism, and others when they have ended or end", () => {
  const history = new History(boundedPods);
  history.store(job({}, two));
  for (const name of ["a", "b"]) history.store(pod("Running", { name }), CONTROLLER);
  history.store(pod("Failed", { name: "a" }), "kubelet");
  history.store(pod("Pending", { name: "c" }), CONTROLLER);
  history.store(pod("Running", { name: "b", metadata: { deletionTimestamp: "2026-03-02T10:00:30Z" } }));
  history.store(pod("Pending", { name: "d" }), CONTROLLER);
  history.remove(pod("Pending", { name: "d" }), "kubelet");
  history.store(pod("Pending", { name: "e" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("refuses one more", () => {
  const history = new History(boundedPods);
  history.store(job({}, two));
  for (const name of ["a", "b", "c"]) history.store(pod("Running", { name }), CONTROLLER);
  expect(history.violations).toEqual(["Job default/pi: has 3 active pods, and its parallelism is 2"]);
});

it("accepts one more when the controller has not heard of another that it made, or that another life has made (X4, X9)", () => {
  const lost = new History(boundedPods);
  lost.store(job());
  const body = lost.store(pod(), CONTROLLER);
  const request = { component: CONTROLLER, process: "controller-manager-1", verb: "create", resource: "pods", body };
  lost.answer({ ...request, code: 504, tookEffect: true });
  lost.store(pod("Running", { name: "b" }), CONTROLLER);
  expect(lost.violations).toEqual([]);

  const restarted = new History(boundedPods);
  restarted.store(job());
  restarted.store(pod(), { component: CONTROLLER, incarnation: 1 });
  restarted.store(pod("Running", { name: "b" }), { component: CONTROLLER, incarnation: 2 });
  expect(restarted.violations).toEqual([]);
  restarted.show(pod(), { component: CONTROLLER, incarnation: 3 });
  restarted.show(pod("Running", { name: "b" }), { component: CONTROLLER, incarnation: 3 });
  restarted.pass(300_000);
  restarted.store(pod("Running", { name: "c" }), { component: CONTROLLER, incarnation: 3 });
  expect(restarted.violations).toHaveLength(1);
});

it("accepts one more after five minutes in which the cache shows nothing (X4), and none before", () => {
  const expired = new History(boundedPods);
  expired.store(job());
  expired.store(pod(), CONTROLLER);
  expired.pass(299_000);
  expired.store(pod("Running", { name: "b" }), CONTROLLER);
  expect(expired.violations).toHaveLength(1);
  expired.pass(301_000);
  expired.store(pod("Running", { name: "c" }), CONTROLLER);
  expect(expired.violations).toHaveLength(1);
});

it("accepts one more when a pod that was given up is shown at last, and taken for the one that is waited for (X4)", () => {
  const late = new History(boundedPods);
  late.store(job());
  late.store(pod(), CONTROLLER);
  late.pass(301_000);
  late.store(pod("Running", { name: "b" }), CONTROLLER);
  late.show(pod("Failed"), { component: CONTROLLER });
  late.store(pod("Failed"), "kubelet");
  late.store(pod("Running", { name: "c" }), CONTROLLER);
  expect(late.violations).toEqual([]);

  const waited = new History(boundedPods);
  waited.store(job());
  waited.store(pod(), CONTROLLER);
  waited.pass(290_000);
  waited.show(pod("Failed"), { component: CONTROLLER });
  waited.store(pod("Failed"), "kubelet");
  waited.store(pod("Running", { name: "b" }), CONTROLLER);
  waited.store(pod("Running", { name: "c" }), CONTROLLER);
  expect(waited.violations).toEqual(["Job default/pi: has 2 active pods, and its parallelism is 1"]);
});

it("refuses a pod when the controller has long seen that the limit is exceeded", () => {
  const history = new History(boundedPods);
  const failed = job({ failed: 2, uncountedTerminatedPods: { failed: ["x"] } }, { backoffLimit: 2 });
  history.store(failed);
  history.show(failed, { component: CONTROLLER });
  history.store(pod(), CONTROLLER);
  history.remove(pod(), "kubelet");
  expect(history.violations).toEqual([]);
  history.pass(180_000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([
    "Job default/pi: gets another pod after 3 of them have failed, and backoffLimit is 2",
  ]);
});
