import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioFile } from "./scenario/scenario-file.js";

/**
 * Everything that a run depends on, as data: a scenario with all manifests inline. Equal plans give equal runs.
 * `kubewright run --scenario` simulates a plan like any scenario.
 */
export interface FaultPlan extends ScenarioFile {
  readonly seed: number;
  readonly start: string;
  /** Virtual duration of the run; at its end the cluster has to be at rest. */
  readonly for: string;
  readonly manifests: readonly UnstructuredObject[];
}
