import type { FaultPlan, Outcome, RunPlanOptions } from "@kubewright/simulation";

/** Known bugs that can be put back in. They lie in the repository, and in no package. */
export interface MutantKit {
  listMutants(): Promise<readonly MutantEntry[]>;
  /** The URL of a player with that bug, to be imported. @throws Error with one line for people. */
  runnerUrl(name: string): Promise<string>;
}

export interface MutantEntry {
  readonly name: string;
  /** What goes wrong. */
  readonly sentence: string;
  /** Upstream's design permits it. */
  readonly permitted?: boolean;
}

/** What such a player exports. */
export interface MutantRunner {
  readonly play: (plan: FaultPlan, options?: RunPlanOptions) => Promise<Outcome>;
}
