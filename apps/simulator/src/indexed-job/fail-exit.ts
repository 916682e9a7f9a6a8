import { ViolationsError } from "../rules/violations-error.js";
import { UserError } from "../user-error.js";

/** What has a meaning already: 0 to 2, and from 126 on what shells and container runtimes make. */
const MIN = 3;
const MAX = 125;

/** @throws UserError for what is no exit status of its own. */
export function parseFailExit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const status = Number(text);
  if (!/^\d{1,3}$/.test(text) || status < MIN || status > MAX)
    throw new UserError(
      `--fail-exit: ${JSON.stringify(text)} is no exit status from ${MIN} to ${MAX}; the others mean something else already`,
    );
  return status;
}

/** Runs a command whose findings are to end it with a status of their own, apart from what goes wrong otherwise. */
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
