import {
  type FaultPlan,
  type Outcome,
  type PlayOptions,
  builtInInvariants,
  collectStates,
  play,
  playAndCompare,
} from "@kubewright/simulation";

/**
 * Plays a plan and holds it to everything that has to hold, also in comparison with a run without faults. Beside decisions and
 * answers it tells which of the states that a campaign has to come to were reached.
 */
export function playPlan(
  plan: FaultPlan,
  player: (plan: FaultPlan, options?: PlayOptions) => Promise<Outcome> = play,
): Promise<Outcome> {
  const watched = async (each: FaultPlan): Promise<Outcome> => {
    const { names, invariant } = collectStates();
    const outcome = await player(each, { invariants: [...builtInInvariants, invariant] });
    return { ...outcome, reached: [...outcome.reached, ...names] };
  };
  return playAndCompare(plan, watched, player);
}
