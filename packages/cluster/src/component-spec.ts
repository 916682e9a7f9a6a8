import type { Clock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { Sender } from "./network.js";

/** Who is to be made, and where. */
export interface ComponentSpec {
  /** The user agent of its requests. */
  readonly name: string;
  /** What its draws are called after. */
  readonly label: string;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly alive: () => boolean;
}
