import type { FuzzReport, ShardingFaultKind } from "@kubewright/simulation";

import { ioProblem } from "@kubewright/analysis/input";
import type { Io } from "../io/io.js";
import { UserError } from "@kubewright/analysis/errors";

/** The file of `--json`, from which `--resume` continues; `fuzz.schema.json` describes it. */
export interface FuzzFile extends FuzzReport {
  /** Value of `--faults`; absent: all. */
  readonly faults?: readonly ShardingFaultKind[];
  /** Value of `--sharding`; absent: one manager without sharding. */
  readonly sharding?: number;
  /** Value of `--mutant`. */
  readonly mutant?: string;
}

export function fuzzJson(file: FuzzFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** @throws UserError when the file cannot be read or is no such report. */
export async function readFuzzFile(path: string, io: Pick<Io, "readFile">): Promise<FuzzFile> {
  let text: string;
  try {
    text = await io.readFile(path);
  } catch (error) {
    throw new UserError(`--resume: ${path}: ${ioProblem(error)}`, { cause: error });
  }
  let value: Partial<FuzzFile> | null;
  try {
    value = JSON.parse(text) as Partial<FuzzFile> | null;
  } catch (error) {
    throw new UserError(`--resume: ${path}: not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isReport(value))
    throw new UserError(`--resume: ${path}: is no report of kubewright fuzz; give a file that --json has written`);
  return value;
}

function isReport(value: Partial<FuzzFile> | null): value is FuzzFile {
  return (
    value?.fuzzVersion === 1 &&
    typeof value.next === "number" &&
    typeof value.seeds?.from === "number" &&
    Array.isArray(value.violations) &&
    Array.isArray(value.corpus) &&
    typeof value.covered === "object" &&
    typeof value.figures === "object"
  );
}
