import type { Clock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { Sender } from "./network.js";

/** Describes a component to create: its identity, clock and transport. */
export interface ComponentSpec {
  /** User agent of its requests. */
  readonly name: string;
  /** Label of its random source. */
  readonly label: string;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly alive: () => boolean;
}
