import type { Files, OutputFile } from "./files.js";
import { UserError } from "../errors/user-error.js";

/**
 * Opens a file that a flag names.
 *
 * @throws UserError with flag and file when the file cannot be opened. The methods `write` and `close` throw it too,
 * for example when the disk is full.
 */
export async function openOutput(
  flag: string,
  path: string,
  io: Pick<Files, "openFile">,
  options?: { readonly secret?: boolean },
): Promise<OutputFile> {
  const explained = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      throw new UserError(`${flag}: cannot write ${path}: ${(error as Error).message}`, { cause: error });
    }
  };
  const file = await explained(() => io.openFile(path, options));
  return {
    write: (text) => explained(() => file.write(text)),
    close: () => explained(() => file.close()),
    discard: () => explained(() => file.discard()),
  };
}

/** @throws UserError when an output file, listed by its flag, is also an input or the file of another flag. */
export function checkOutputs(outputs: Readonly<Record<string, string | undefined>>, inputs: readonly string[]): void {
  const taken = new Set(inputs);
  for (const [flag, path] of Object.entries(outputs)) {
    if (path === undefined || path === "-") continue;
    if (taken.has(path)) throw new UserError(`${flag}: ${path} is already in use by this command; name another file`);
    taken.add(path);
  }
}
