import { parseDuration } from "@kubewright/clock";

import { compareSettled, mayDiffer } from "../compare-settled.js";
import type { FaultPlan } from "../fault-plan.js";
import { FAULT_KINDS } from "../generate/fault-kind.js";
import { SHARDING_FAULT_KINDS } from "../generate/sharding-faults.js";
import type { Outcome } from "../outcome.js";
import type { ScenarioEventEntry } from "../scenario/scenario-file.js";

/**
 * Plays a plan; if nothing goes wrong on the way, plays it once more without its faults, and tells of Jobs that end in another
 * way although nothing that happened permits it. What users do happens in both.
 *
 * @run run - Plays one plan, and holds it to what has to hold.
 * @runFaultFree runFaultFree - Plays the one without faults, of which only counts what it settles to. Default: `play`.
 */
export async function runAndCompare(
  plan: FaultPlan,
  run: (plan: FaultPlan) => Promise<Outcome>,
  runFaultFree: (plan: FaultPlan) => Promise<Outcome> = run,
): Promise<Outcome> {
  const outcome = await run(plan);
  if (outcome.violations.length > 0 || !hasFaults(plan) || !mayDiffer(outcome.settled, plan)) return outcome;
  // One of many controller managers works as well as one, and nobody has to tell the others that it does.
  const { controllerManagers: _many, ...calm } = withoutFaults(plan);
  const { sharding: _sharding, ...controllers } = calm.controllers ?? {};
  const { settled } = await runFaultFree({ ...calm, ...(calm.controllers === undefined ? {} : { controllers }) });
  // It is known of no Job before the end.
  const atMs = Date.parse(plan.start) + (parseDuration(plan.for) ?? 0);
  const violations = compareSettled(settled, outcome.settled, plan).map((violation) => ({ ...violation, atMs }));
  return { ...outcome, violations };
}

/** The plan with what it plays and what users do in it. */
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
