import type { Runnable } from "@kubewright/controller";

import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";

/** A controller manager, or a controller in a separate process, as faults see it. */
export interface ManagerProcess extends Runnable {
  /** Clock of the machine that the process runs on. While it is paused, the process is paused. */
  readonly clock: ProcessClock;
  /** Whether the process leads; for sharded managers, whether it owns the cluster-wide bucket. */
  readonly leads: boolean;
  /** Whether the process believes that it leads, or that it is the only one. */
  readonly believesToLead: boolean;
  /** Returns whether a controller of this process is running. */
  runs(sender: Pick<Sender, "component"> & Partial<Sender>): boolean;
  has(controller: string): boolean;
  /** Kills or starts one controller, or without a name the whole process. */
  setRunning(up: boolean, controller?: string): void;
}
