import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioFile } from "./scenario/scenario-file.js";

/**
 * All that a run is made of, as data: a scenario whose manifests are written out. Equal plans give equal runs, and `kubewright
 * run --scenario` plays a plan like any scenario.
 */
export interface FaultPlan extends ScenarioFile {
  readonly seed: number;
  readonly start: string;
  /** Until everything has to have settled. */
  readonly for: string;
  readonly manifests: readonly UnstructuredObject[];
}
