import type { Runnable } from "@kubewright/controller";

import type { Sender } from "./network.js";
import type { ProcessClock } from "./process-clock.js";

/** A controller manager, or a controller that is a process of its own, as faults see it. */
export interface ManagerProcess extends Runnable {
  /** Of the machine that it runs on: when that stands still, nothing of it goes on. */
  readonly clock: ProcessClock;
  /** Whether it leads; of managers that share work: whether it has what needs the whole cluster. */
  readonly leads: boolean;
  /** Whether it takes itself for the leader, or for the only one there is. */
  readonly believesToLead: boolean;
  /** Whether a controller of it is up. */
  runs(sender: Pick<Sender, "component"> & Partial<Sender>): boolean;
  has(controller: string): boolean;
  /** Kills or starts one controller, or, without a name, all that is in the process. */
  setRunning(up: boolean, controller?: string): void;
}
