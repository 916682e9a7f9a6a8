import type { FaultPlan, Outcome, RunPlanOptions } from "@kubewright/simulation";

/** Known bugs that can be reintroduced. They are in the repository, and in no package. */
export interface MutantKit {
  listMutants(): Promise<readonly MutantEntry[]>;
  /** Returns the URL of a module that runs plans with that bug. @throws Error with a one-line message. */
  runnerUrl(name: string): Promise<string>;
}

export interface MutantEntry {
  readonly name: string;
  /** The effect of the bug. */
  readonly sentence: string;
  /** Whether upstream's design permits it. */
  readonly permitted?: boolean;
}

/** The exports of such a module. */
export interface MutantRunner {
  readonly runPlan: (plan: FaultPlan, options?: RunPlanOptions) => Promise<Outcome>;
}
