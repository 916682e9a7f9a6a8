import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { ControllerSettings, Jitter, NodeGroup, WorkloadEntry } from "./scenario-schema.js";
import type { SCENARIO_API_VERSION } from "./schema.js";

/** A scenario file that matches its schema. `docs/scenarios.md` documents each field. */
export interface ScenarioFile {
  readonly apiVersion: typeof SCENARIO_API_VERSION;
  readonly kind: "Scenario";
  readonly name?: string;
  readonly description?: string;
  readonly start?: string;
  readonly for?: string;
  readonly seed?: number;
  readonly timeZone?: string;
  readonly controllerManagers?: number;
  /** Settings of the controllers. */
  readonly controllers?: ControllerSettings;
  /** Random delays of requests and events. Default: no delays. */
  readonly jitter?: Jitter;
  readonly nodes?: readonly NodeGroup[];
  readonly workloads?: readonly WorkloadEntry[];
  readonly manifests?: readonly (string | UnstructuredObject)[];
  readonly events?: readonly ScenarioEventEntry[];
}
