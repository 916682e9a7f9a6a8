import { UserError } from "@kubewright/analysis/errors";

/** Permitted statuses: 0 to 2 are used already, and shells and container runtimes use those from 126 on. */
const MIN = 3;
const MAX = 125;

/** Returns the status for findings; 1 without `--fail-exit`. @throws UserError for a status outside that range. */
export function parseFailExit(text: string | undefined): number {
  if (text === undefined) return 1;
  const status = Number(text);
  if (!/^\d{1,3}$/.test(text) || status < MIN || status > MAX)
    throw new UserError(
      `--fail-exit: ${JSON.stringify(text)} is no exit status from ${MIN} to ${MAX}; the others mean something else already`,
    );
  return status;
}
