import type { AddedNode } from "@kubewright/cluster";

import type { Incident } from "./futures/incident.js";
import type { Peaks } from "./futures/pod-peaks.js";
import type { Io, Progress } from "./io.js";
import type { PageData } from "@kubewright/timeline/data";
import type { RunInput } from "./run-input.js";
import type { RunOutcome } from "./run-outcome.js";
import type { RunOutputs } from "./run-outputs.js";
import type { Selection } from "./selection.js";
import type { ScenarioEventRecord } from "./trace.js";

/** What it takes to play a run, however it is done. */
export interface RunRequest {
  readonly input: RunInput;
  /** What rules are about. */
  readonly counted: { readonly incidents: readonly Incident[]; readonly selections: readonly Selection[] };
  readonly outputs: RunOutputs;
  readonly io: Io;
  readonly progress: Progress;
}

/** A run that has been played, to its end or until it was stopped. */
export interface SimulatedRun {
  readonly outcome: RunOutcome;
  readonly peaks: Peaks;
  readonly scenarioEvents: readonly ScenarioEventRecord[];
  readonly reachedMs: number;
  /** One line each: what the API server refused. */
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  /** For a page to show, if one is wanted. */
  readonly page?: PageData;
  /** Nodes that the cluster had beside those of the input. Default: those that the input tells. */
  readonly addedNodes?: readonly AddedNode[];
}
