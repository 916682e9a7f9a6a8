import { type FaultPlan, type Outcome, type PlayOptions, builtInInvariants, play } from "@kubewright/simulation";

/** Plays a plan and holds it to everything that has to hold. */
export function playPlan(
  plan: FaultPlan,
  player: (plan: FaultPlan, options?: PlayOptions) => Promise<Outcome> = play,
): Promise<Outcome> {
  return player(plan, { invariants: builtInInvariants });
}
