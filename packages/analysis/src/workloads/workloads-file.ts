import {
  type WorkloadEntry,
  checkSchema,
  checkWorkloadSettings,
  scenarioSchema,
  workloadsSchema,
} from "@kubewright/simulation";

import type { Files } from "../ports/files.js";
import { ioProblem } from "../input/find-inputs.js";
import { ScenarioText } from "../scenario/scenario-text.js";
import { UserError } from "../errors/user-error.js";

/**
 * Reads a workloads file, `kind: Workloads`, or the workloads of a scenario. Entries for workloads that are not
 * simulated are no mistake.
 *
 * @throws UserError with one line for each mistake.
 */
export async function readWorkloadsFile(path: string, io: Pick<Files, "readFile">): Promise<readonly WorkloadEntry[]> {
  let text: string;
  try {
    text = await io.readFile(path);
  } catch (error) {
    throw new UserError(`--workloads: ${path}: ${ioProblem(error)}`, { cause: error });
  }
  const source = new ScenarioText(text, path);
  const value = source.value() as { kind?: unknown } | null;
  const problems = await checkSchema(value, value?.kind === "Scenario" ? scenarioSchema : workloadsSchema);
  if (problems.length > 0) source.throwProblems(problems);
  const entries = (value as { workloads?: readonly WorkloadEntry[] }).workloads ?? [];
  const wrong = entries.flatMap((entry, index) => checkWorkloadSettings(entry, ["workloads", index]));
  if (wrong.length > 0) source.throwProblems(wrong);
  return entries;
}
