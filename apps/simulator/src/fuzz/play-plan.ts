import {
  type FaultPlan,
  type Outcome,
  type PlayOptions,
  builtInInvariants,
  play,
  playAndCompare,
} from "@kubewright/simulation";

/** Plays a plan and holds it to everything that has to hold, also in comparison with a run without faults. */
export function playPlan(
  plan: FaultPlan,
  player: (plan: FaultPlan, options?: PlayOptions) => Promise<Outcome> = play,
): Promise<Outcome> {
  return playAndCompare(plan, (each) => player(each, { invariants: builtInInvariants }));
}
