import type { Io } from "../io/io.js";
import { UserError } from "@kubewright/analysis/errors";

/** File name of standard input. */
export const STANDARD_INPUT = "standard-input.yaml";

/** Records the files that are read, so that pods can read them by the same names. */
export class RecordedInputs {
  readonly files = new Map<string, string>();
  readonly io: Io;

  constructor(io: Io) {
    const { readStandardInput } = io;
    this.io = {
      ...io,
      readFile: async (path) => {
        const text = await io.readFile(path);
        this.files.set(path, text);
        return text;
      },
      ...(readStandardInput === undefined
        ? {}
        : {
            readStandardInput: async () => {
              const text = await readStandardInput();
              this.files.set(STANDARD_INPUT, text);
              return text;
            },
          }),
      execute: async (command) => {
        throw new UserError(
          `--indexed-job: pods have no ${command} to read this with: render it before, for example kubectl kustomize FOLDER > all.yaml`,
        );
      },
    };
  }
}

/**
 * Returns a path relative to the working folder of a pod, without `.`.
 *
 * @throws UserError for a path outside the working folder.
 */
export function pathBelow(path: string): string {
  const parts = path.split("/").filter((part) => part !== "." && part !== "");
  if (path.startsWith("/") || parts.includes(".."))
    throw new UserError(
      `--indexed-job: ${path} is not below this folder, and so nowhere in a pod: begin where all inputs are below, or put them into the image and name their folder with --inputs`,
    );
  return parts.join("/");
}
