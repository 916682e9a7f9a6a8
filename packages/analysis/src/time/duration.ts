import { parseDuration as parse } from "@kubewright/clock";

import { UserError } from "../errors/user-error.js";

export { formatDuration } from "@kubewright/clock";

/**
 * Reads `30d`, `1d12h`, `90m` or `45s` as milliseconds.
 *
 * @throws UserError naming the option and the text.
 */
export function parseDuration(text: string, option: string): number {
  const durationMs = parse(text);
  if (durationMs !== undefined) return durationMs;
  throw new UserError(`${option}: ${JSON.stringify(text)} is not a duration; write for example 30d, 1d12h, 90m or 45s`);
}
