import { formatDuration } from "../duration.js";
import { UserError } from "../user-error.js";

/** Ten years. */
export const LONGEST_RUN_MS = 3653 * 86_400_000;

export const TOO_LONG = "is longer than ten years; write 3650d at most";

/** @throws UserError for more virtual time than is played. */
export function checkLength(durationMs: number, option: string): void {
  if (durationMs > LONGEST_RUN_MS) throw new UserError(`${option}: ${formatDuration(durationMs)} ${TOO_LONG}`);
}
