import { type EventRun, type ScenarioAction, defineEvent } from "../faults/event-definition.js";
import type { ScenarioProblem } from "../scenario/problem.js";
import { type Target, targetFields, targets } from "../scenario/schema.js";
import { targetAction } from "./target-action.js";

export const suspend = defineEvent({
  schema: targets("A user suspends Jobs or CronJobs; with `for`, they are resumed after.", targetFields, ["kind"]),
  example: { kind: "CronJob", name: "report" },
  lasts: "untilUndone",
  isUserAction: true,
  check: checkKind,
  action: (target, run) => ({ ...suspension(target, run, true), end: suspension(target, run, false).begin }),
});

export const resume = defineEvent({
  schema: targets("A user resumes Jobs or CronJobs.", targetFields, ["kind"]),
  example: { kind: "CronJob", name: "report" },
  isUserAction: true,
  check: checkKind,
  action: (target, run) => suspension(target, run, false),
});

function checkKind({ kind }: Target): ScenarioProblem[] {
  if (kind === "Job" || kind === "CronJob") return [];
  return [{ path: ["kind"], message: `a ${kind} cannot be suspended; only Job and CronJob can` }];
}

function suspension(
  target: Target,
  run: EventRun,
  suspended: boolean,
): ScenarioAction & { readonly begin: () => Promise<unknown> } {
  const body = { spec: { suspend: suspended } };
  return targetAction(suspended ? "suspends" : "resumes", target, run, (name, namespace, client) =>
    client.patch(name, { type: "merge", body }, { namespace, fieldManager: "user" }),
  );
}
