import { parseDuration } from "@kubewright/clock";

import { compareSettled, mayDiffer } from "../compare-settled.js";
import type { FaultPlan } from "../fault-plan.js";
import { FAULT_KINDS, SHARDING_FAULT_KINDS } from "../faults/registry.js";
import type { Outcome } from "../outcome.js";
import type { ScenarioEventEntry } from "../faults/registry.js";

/**
 * Runs a plan. If it violates no invariant, runs it again without faults and reports Jobs that end differently without
 * a permitting event. User actions are in both runs.
 *
 * @param run - Runs one plan and checks the invariants.
 * @param runFaultFree - Runs the plan without faults; only its settled objects are used. Default: `run`.
 */
export async function runAndCompare(
  plan: FaultPlan,
  run: (plan: FaultPlan) => Promise<Outcome>,
  runFaultFree: (plan: FaultPlan) => Promise<Outcome> = run,
): Promise<Outcome> {
  const outcome = await run(plan);
  if (outcome.violations.length > 0 || !hasFaults(plan) || !mayDiffer(outcome.settled, plan)) return outcome;
  // One controller manager gives the same end as several, without the cost of coordination.
  const { controllerManagers: _many, ...calm } = withoutFaults(plan);
  const { sharding: _sharding, ...controllers } = calm.controllers ?? {};
  const { settled } = await runFaultFree({ ...calm, ...(calm.controllers === undefined ? {} : { controllers }) });
  // The difference is known only at the end.
  const atMs = Date.parse(plan.start) + (parseDuration(plan.for) ?? 0);
  const violations = compareSettled(settled, outcome.settled, plan).map((violation) => ({ ...violation, atMs }));
  return { ...outcome, violations };
}

/** Returns the plan without its faults: the workload and the user actions. */
export function withoutFaults(plan: FaultPlan): FaultPlan {
  const { jitter: _jitter, events = [], ...rest } = plan;
  return { ...rest, events: events.filter((entry) => !isFault(entry)) };
}

function hasFaults({ jitter, events = [] }: FaultPlan): boolean {
  return jitter !== undefined || events.some(isFault);
}

function isFault(entry: ScenarioEventEntry): boolean {
  return (
    [...FAULT_KINDS, ...SHARDING_FAULT_KINDS].some((kind) => kind in entry) || entry.patch?.subresource === "status"
  );
}
