import { expect, test } from "vitest";

import type { FaultPlan } from "../fault-plan.js";
import { generatePlan } from "../generate/generate-plan.js";
import type { Outcome } from "../outcome.js";
import { type CampaignOptions, type CampaignProgress, type FuzzWorkers, runCampaign } from "./campaign.js";
import type { FuzzReport } from "./fuzz-report.js";
import { planNamed } from "./plan-name.js";

/** Returns an artificial outcome of a plan: it fails where a cache is stale and the consistency gate is off. */
function madeUpOutcome(plan: FaultPlan): Outcome {
  const { events = [], controllers } = plan;
  const kinds = events.map((entry) => Object.keys(entry).find((key) => key !== "at" && key !== "for")!);
  const isWrong = kinds.includes("staleCache") && controllers?.consistencyGate === false;
  const violation = {
    invariant: "S1 counted once",
    subject: `Job default/of-${plan.name}`,
    message: "twice",
    atMs: Date.parse(plan.start) + 1_000,
  };
  return {
    violations: isWrong ? [violation] : [],
    covered: [...new Set(kinds.flatMap((kind, index) => kinds.slice(index + 1).map((other) => `${kind} ${other}`)))],
    hash: plan.name ?? "",
    settled: {},
    figures: { requests: kinds.length, writes: 1, virtualMs: 1_000 },
  };
}

/** Returns workers whose runs end in a different order than they start. */
function workersOf(count: number, play = madeUpOutcome): FuzzWorkers & { readonly names: string[] } {
  const names: string[] = [];
  return {
    count,
    names,
    run: async (plan) => {
      names.push(plan.name!);
      for (let turn = 0; turn < (plan.seed * 7) % 5; turn++) await Promise.resolve();
      return play(plan);
    },
  };
}

const campaign = (options: Partial<CampaignOptions> = {}): Promise<FuzzReport> =>
  runCampaign({ seeds: { from: 1, to: 200 }, makePlan: generatePlan, workers: workersOf(1), ...options });

test("the report is the same with one worker and with several", async () => {
  const alone = await campaign({ minimize: true });
  expect(await campaign({ workers: workersOf(2), minimize: true })).toEqual(alone);
  expect(await campaign({ workers: workersOf(7), minimize: true })).toEqual(alone);
  expect(alone).toMatchObject({ fuzzVersion: 1, seeds: { from: 1, to: 200 }, next: 201 });
});

test("a violation is reported once, with its first plan, the number of plans, and the minimised plan", async () => {
  const { violations } = await campaign({ minimize: true });
  expect(violations).toHaveLength(1);
  const [found] = violations;
  expect(found).toMatchObject({ invariant: "S1 counted once", kind: "Job" });
  expect(found!.plans).toBeGreaterThan(10);
  expect(found!.others.length).toBe(20);
  expect(found!.violation.subject).toBe(`Job default/of-${found!.plan.name}`);
  expect(planNamed(found!.name, generatePlan)).toEqual(found!.plan);
  const { plan } = found!.minimized!;
  expect([plan.controllers, plan.manifests, plan.events?.length]).toEqual([{ consistencyGate: false }, [], 1]);
});

test("seeds that reached something new are changed, and what they are changed to can be had by name", async () => {
  const workers = workersOf(1);
  const { corpus, plansRun, covered } = await campaign({ workers });
  expect(plansRun).toBe(workers.names.length);
  expect(plansRun).toBeGreaterThan(200);
  expect(corpus.length).toBeGreaterThan(5);
  const changed = workers.names.filter((name) => name.includes("+"));
  expect(changed.length).toBe(plansRun - 200);
  for (const name of changed) expect(planNamed(name.replace("seed-", ""), generatePlan)!.name).toBe(name);
  // The corpus consists of the first plans that covered each state.
  expect(new Set(Object.values(covered).map(({ first }) => first))).toEqual(new Set(corpus));
});

test("what should be reached and was not is named", async () => {
  const { neverCovered, covered } = await campaign({ sometimes: ["never", "requestFails requestFails"] });
  expect(neverCovered).toEqual(["never"]);
  expect(covered["requestFails requestFails"]!.plans).toBeGreaterThan(1);
});

test("an aborted campaign reports its results, and resumes to the same end", async () => {
  const whole = await campaign();
  for (const after of [0, 1, 70, 150]) {
    const stop = new AbortController();
    const workers = workersOf(2, (plan) => {
      if (workers.names.length > after) stop.abort();
      return madeUpOutcome(plan);
    });
    const part = await campaign({ workers, signal: stop.signal });
    expect(part.next).toBeLessThan(201);
    expect(await campaign({ resume: JSON.parse(JSON.stringify(part)) as FuzzReport })).toMatchObject({
      next: 201,
      plansRun: whole.plansRun,
      corpus: whole.corpus,
      covered: whole.covered,
    });
  }
});

test("a violation of an unfinished round is reported, and counted once when the round runs again", async () => {
  const wrong = (plan: FaultPlan): Outcome => ({
    ...madeUpOutcome(plan),
    violations:
      plan.seed === 3 ? [{ invariant: "S9 no invalid write", subject: "Job default/a", message: "", atMs: 0 }] : [],
  });
  const stop = new AbortController();
  const workers = workersOf(1, (plan) => {
    if (plan.seed === 20) stop.abort();
    return wrong(plan);
  });
  const part = await campaign({ workers, signal: stop.signal });
  expect([part.next, part.violations.map(({ name }) => name)]).toEqual([1, ["3"]]);
  const { violations } = await campaign({ workers: workersOf(1, wrong), resume: part });
  expect(violations.filter(({ name }) => name === "3")).toMatchObject([{ plans: expect.any(Number), name: "3" }]);
  expect(violations[0]!.others).not.toContain("3");
});

test("a plan that fails to run is reported, and the campaign continues", async () => {
  const { violations, next } = await campaign({
    seeds: { from: 1, to: 10 },
    workers: workersOf(1, (plan) => {
      if (plan.seed === 4) throw new Error("no time goes by any more");
      return madeUpOutcome(plan);
    }),
  });
  expect(next).toBe(11);
  expect(violations.find(({ invariant }) => invariant === "runs to its end")).toMatchObject({
    name: "4",
    kind: "Plan",
    violation: { message: "no time goes by any more" },
  });
});

test("a budget of time ends it at the end of a round", async () => {
  let nowMs = 1_000;
  const shares: number[] = [];
  const report = await campaign({
    seeds: { from: 1, to: 100_000 },
    forMs: 100,
    clock: { now: () => nowMs },
    workers: workersOf(1, (plan) => {
      nowMs++;
      return madeUpOutcome(plan);
    }),
    onProgress: ({ fraction }) => shares.push(fraction),
  });
  expect(report.next).toBe(129);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBe(1);
});

test("a round may be of fewer seeds, and has fewer changed plans", async () => {
  const names: string[] = [];
  const { next } = await campaign({
    seeds: { from: 1, to: 100_000 },
    roundSeeds: 8,
    forMs: 1,
    clock: { now: () => names.length },
    workers: workersOf(1, (plan) => {
      names.push(plan.name ?? "");
      return madeUpOutcome(plan);
    }),
  });
  expect(next).toBe(9);
  expect(names).toHaveLength(8);
});

test("progress rises to its end, with what was found by then", async () => {
  const reported: CampaignProgress[] = [];
  const { plansRun, violations } = await campaign({ onProgress: (progress) => reported.push(progress) });
  expect(reported).toHaveLength(plansRun);
  expect(reported.at(-1)).toMatchObject({ phase: "playing", plansRun, fraction: 1 });
  expect(violations).toHaveLength(1);
});

test("a report of other seeds is not gone on with", async () => {
  const report = await campaign({ seeds: { from: 1, to: 5 } });
  await expect(campaign({ seeds: { from: 2, to: 5 }, resume: report })).rejects.toThrow("is of seeds 1-5");
});

test.each(["", "a", "1+", "+1", "4294967296", "1.5", "-1"])("%j is the name of no plan", (name) => {
  expect(planNamed(name, generatePlan)).toBeUndefined();
});
