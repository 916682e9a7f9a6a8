import type { ControllerSettings, GroupedNode, ScenarioEvent as PlayedHappening, Jitter } from "@kubewright/simulation";

import type { Manifest } from "../input/manifest.js";

/** A scenario that can be played. */
export interface Scenario {
  readonly name: string;
  readonly description: string | undefined;
  readonly startMs: number;
  readonly durationMs: number;
  readonly seed: number;
  /** Zone of CronJobs without one. */
  readonly timeZone: string;
  readonly controllerManagers: number;
  readonly controllers?: ControllerSettings | undefined;
  readonly jitter?: Jitter | undefined;
  /** Absent: the default ones. */
  readonly nodes: readonly GroupedNode[] | undefined;
  /** Its own and those of the command line, with what it says of their workloads written into them. */
  readonly manifests: readonly Manifest[];
  readonly events: readonly ScenarioEvent[];
}

/** One thing that happens. Its place is `file:line:column`. */
export type ScenarioEvent = PlayedHappening<Manifest>;
