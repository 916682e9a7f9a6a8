import { expect, it } from "vitest";

import { History } from "../test/history.js";
import { condition, job, pod } from "../test/objects.js";
import { collectStates, sometimes } from "./sometimes.js";

it("names some seventy states, each once, and says what each is", () => {
  expect(new Set(sometimes.map(({ name }) => name)).size).toBe(sometimes.length);
  expect(sometimes.length).toBeGreaterThanOrEqual(60);
  for (const { sentence } of sometimes) expect(sentence).toMatch(/^[A-Z].*\.$/);
});

it("collects the states that several runs have covered together", () => {
  const states = collectStates();
  expect([...states.names]).toEqual([]);

  const first = new History(states.invariant);
  first.store(job());
  first.store(pod("Running", { metadata: { ownerReferences: [] } }));
  first.store(pod(), "job-controller");
  expect([...states.names]).toEqual(["adoption"]);

  const second = new History(states.invariant);
  second.store(job());
  second.answer({ component: "job-controller", verb: "create", resource: "pods", code: 504, tookEffect: true });
  second.store(job({ conditions: [condition("FailureTarget")], terminating: 1 }), "job-controller");
  second.show(pod(), { component: "job-controller", incarnation: 2 });
  expect([...states.names]).toEqual([
    "adoption",
    "create lost",
    "FailureTarget with terminating pods",
    "restarted controller",
  ]);
  expect([...first.violations, ...second.violations]).toEqual([]);
});

it("names only what is among its data", () => {
  const names = new Set(sometimes.map(({ name }) => name));
  const states = collectStates();
  const history = new History(states.invariant);
  history.store(job());
  history.store(job({ conditions: [condition("Complete")], succeeded: 2 }), "job-controller");
  expect([...states.names]).toEqual(["completes", "more successes than completions"]);
  for (const name of states.names) expect(names).toContain(name);
});
