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
 * Runs a plan and checks all invariants, including the comparison with a run without faults.
 *
 * The outcome's coverage has the decisions and answers of the run, and the `sometimes` states that it reached.
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
