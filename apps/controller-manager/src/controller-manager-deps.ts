import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { Transport } from "@kubewright/transport";

import type { ControllerManagerOptions } from "./options.js";
import type { Operations } from "./serving/operations.js";
import type { Build } from "./user-agent.js";

/** Dependencies of a controller manager. */
export interface ControllerManagerDeps {
  readonly options: ControllerManagerOptions;
  readonly transport: Transport;
  /** Reaches the same API server without credentials; required with `--use-service-account-credentials`. */
  readonly anonymousTransport?: Transport | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Creates the logger of a component. */
  readonly loggerFor: (name?: string) => Logger;
  readonly build: Build;
  readonly hostname: string;
  readonly localTimeZone: string;
  /** Receives metrics, health states and routes. Default: none. */
  readonly operations?:
    Pick<Operations, "metrics" | "health" | "requests" | "addGarbageCollector" | "addRoute"> | undefined;
}
