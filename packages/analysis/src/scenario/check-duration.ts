import { LONGEST_RUN_MS, TOO_LONG } from "@kubewright/simulation";

import { formatDuration } from "../time/duration.js";
import { UserError } from "../errors/user-error.js";

/** @throws UserError for more virtual time than can be simulated. */
export function checkDuration(durationMs: number, option: string): void {
  if (durationMs > LONGEST_RUN_MS) throw new UserError(`${option}: ${formatDuration(durationMs)} ${TOO_LONG}`);
}
