import { ViolationsError, UserError } from "@kubewright/analysis/errors";

/** Permitted statuses: 0 to 2 are used already, and shells and container runtimes use those from 126 on. */
const MIN = 3;
const MAX = 125;

/** @throws UserError for a status outside that range. */
export function parseFailExit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const status = Number(text);
  if (!/^\d{1,3}$/.test(text) || status < MIN || status > MAX)
    throw new UserError(
      `--fail-exit: ${JSON.stringify(text)} is no exit status from ${MIN} to ${MAX}; the others mean something else already`,
    );
  return status;
}

/** Runs a command whose findings end with a separate exit status, different from other failures. */
export async function withFailExit(text: string | undefined, command: () => Promise<void>): Promise<void> {
  const exitCode = parseFailExit(text);
  try {
    await command();
  } catch (error) {
    if (exitCode !== undefined && error instanceof ViolationsError)
      throw new ViolationsError(error.lines, { exitCode, cause: error });
    throw error;
  }
}
