import type { ControllerSettings, GroupedNode, ScenarioEvent as PlayedHappening, Jitter } from "@kubewright/simulation";

import type { Manifest } from "../input/manifest.js";

/** A scenario that is ready to be simulated. */
export interface Scenario {
  readonly name: string;
  readonly description: string | undefined;
  readonly startMs: number;
  /** Whether neither a flag nor the file has a start. */
  readonly hasDefaultStart: boolean;
  readonly durationMs: number;
  readonly seed: number;
  /** Time zone of CronJobs without `timeZone`. */
  readonly timeZone: string;
  readonly controllerManagers: number;
  readonly controllers?: ControllerSettings | undefined;
  readonly jitter?: Jitter | undefined;
  /** Absent: the default nodes. */
  readonly nodes: readonly GroupedNode[] | undefined;
  /** Manifests of the scenario and of the command line, with the scenario's workload settings as annotations. */
  readonly manifests: readonly Manifest[];
  readonly events: readonly ScenarioEvent[];
}

/** One event of a scenario. Its place is `file:line:column`. */
export type ScenarioEvent = PlayedHappening<Manifest>;
