import {
  type FaultPlan,
  type Outcome,
  type RunPlanOptions,
  builtInInvariants,
  collectStates,
  runPlan,
  runAndCompare,
} from "@kubewright/simulation";

/**
 * Plays a plan and holds it to everything that has to hold, also in comparison with a run without faults. Beside decisions and
 * answers it tells which of the states that a campaign has to come to were reached.
 */
export function runComparedPlan(
  plan: FaultPlan,
  runner: (plan: FaultPlan, options?: RunPlanOptions) => Promise<Outcome> = runPlan,
): Promise<Outcome> {
  const runWithStates = async (each: FaultPlan): Promise<Outcome> => {
    const { names, invariant } = collectStates();
    const outcome = await runner(each, { invariants: [...builtInInvariants, invariant] });
    return { ...outcome, covered: [...outcome.covered, ...names] };
  };
  return runAndCompare(plan, runWithStates, runner);
}
