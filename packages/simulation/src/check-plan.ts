import { defaultNodes } from "@kubewright/cluster";

import { PlanError } from "./create-objects.js";
import type { FaultPlan } from "./fault-plan.js";
import { checkScenario, nodeShapes } from "./scenario/check-scenario.js";
import { checkSchema } from "./scenario/check-schema.js";
import { LONGEST_RUN_MS, TOO_LONG } from "./scenario/longest-run.js";
import { type ScenarioProblem, pathText } from "./scenario/problem.js";
import { durationOf, timeOf } from "./scenario/scenario-times.js";

/**
 * Parses and checks a plan, for example a saved one.
 *
 * @param controllers - Names of controllers that are not part of Kubernetes. Default: none.
 * @throws PlanError with one line per problem: `events[2].paused: what is wrong; hint`.
 */
export async function readPlan(value: unknown, controllers: readonly string[] = []): Promise<FaultPlan> {
  throwProblems(await checkSchema(value));
  const plan = value as FaultPlan;
  const missing = (["seed", "start", "for", "manifests"] as const).filter((field) => plan[field] === undefined);
  throwProblems(
    missing.map((field) => ({ path: [field], message: "is missing; a plan says all that a run depends on" })),
  );
  checkPlan(plan, controllers);
  return plan;
}

/**
 * Checks a plan that matches the schema.
 *
 * @throws PlanError as {@link readPlan}.
 */
export function checkPlan(plan: FaultPlan, controllers: readonly string[] = []): void {
  const startMs = timeOf(plan.start);
  const durationMs = durationOf(plan.for);
  const problems: ScenarioProblem[] = [];
  if (Number.isNaN(startMs))
    problems.push({ path: ["start"], message: `${JSON.stringify(plan.start)} is not a valid time` });
  if (!(durationMs > 0)) problems.push({ path: ["for"], message: `${JSON.stringify(plan.for)} is not a duration` });
  if (durationMs > LONGEST_RUN_MS) problems.push({ path: ["for"], message: `${JSON.stringify(plan.for)} ${TOO_LONG}` });
  const applied = (plan.events ?? []).flatMap(({ apply }, index) => {
    if (typeof apply === "string") problems.push(fileProblem(["events", index, "apply"], apply));
    return apply === undefined ? [] : [apply];
  });
  for (const [index, manifest] of plan.manifests.entries())
    if (typeof manifest === "string") problems.push(fileProblem(["manifests", index], manifest));
  throwProblems(problems);
  const objects = [...plan.manifests, ...applied].flatMap((object) => (typeof object === "string" ? [] : [{ object }]));
  const nodes = plan.nodes === undefined ? defaultNodes : nodeShapes(plan.nodes);
  throwProblems(checkScenario(plan, { startMs, durationMs, objects, nodes, controllers, allowsAbsent: true }));
}

function fileProblem(path: readonly (string | number)[], file: string): ScenarioProblem {
  return { path, message: `${JSON.stringify(file)} is a file; a plan has its objects written out` };
}

function throwProblems(problems: readonly ScenarioProblem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`));
  throw new PlanError([...new Set(lines)].join("\n"));
}
