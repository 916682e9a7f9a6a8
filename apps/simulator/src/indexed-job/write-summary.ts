import { ioProblem } from "@kubewright/analysis/input";
import type { Io } from "../io/io.js";
import { UserError } from "@kubewright/analysis/errors";
import { type ChunkSummary, summaryText } from "./chunk-summary.js";

/** Writes the summary of a chunk to the file of `--summary`. @throws UserError when the file cannot be written. */
export async function writeSummary(
  path: string | undefined,
  summary: ChunkSummary,
  io: Pick<Io, "overwriteFile">,
): Promise<void> {
  if (path === undefined) return;
  try {
    await io.overwriteFile?.(path, summaryText(summary));
  } catch (error) {
    throw new UserError(`--summary: ${path}: ${ioProblem(error)}`, { cause: error });
  }
}
