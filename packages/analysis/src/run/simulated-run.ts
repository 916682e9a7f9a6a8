import type { AddedNode } from "@kubewright/cluster";

import type { Incident } from "../futures/incident.js";
import type { Peaks } from "../futures/pod-peaks.js";
import type { HostProcess } from "../ports/host-process.js";
import type { Threads } from "../ports/threads.js";
import type { Progress } from "../ports/output.js";
import type { PageData } from "@kubewright/timeline/data";
import type { FoundObjects } from "../input/input-problem.js";
import type { RunInput } from "../input/run-input.js";
import type { RunOutcome } from "./run-outcome.js";
import type { RunOutputs } from "./run-outputs.js";
import type { Selection } from "../input/selection.js";
import type { ScenarioEventRecord } from "./trace.js";

/** The input and outputs of a run, for any way to simulate it. */
export interface RunRequest {
  readonly input: RunInput;
  /** The incidents and selections that rules need. */
  readonly counted: { readonly incidents: readonly Incident[]; readonly selections: readonly Selection[] };
  readonly outputs: RunOutputs;
  readonly io: Pick<HostProcess, "timeZoneData" | "stopped" | "holdMemory"> & Pick<Threads, "segmentRunners">;
  readonly progress: Progress;
}

/** A completed or stopped run. */
export interface SimulatedRun {
  readonly outcome: RunOutcome;
  readonly peaks: Peaks;
  readonly scenarioEvents: readonly ScenarioEventRecord[];
  readonly reachedMs: number;
  /** One line for each mistake because of which the command ends with status 2. */
  readonly problems: readonly string[];
  readonly found: FoundObjects;
  readonly notes: readonly string[];
  /** The data of the page, if one is wanted. */
  readonly page?: PageData;
  /** Nodes of the cluster in addition to those of the input. Default: the added nodes of the input. */
  readonly addedNodes?: readonly AddedNode[];
}
