import { formatTime, type UnstructuredObject } from "@kubewright/api";
import { DEFAULT_DURATION_MS, DEFAULT_START_MS, type FaultPlan, type ScenarioFile } from "@kubewright/simulation";

import { formatDuration } from "@kubewright/analysis/time";
import { ioProblem, type InputIo, loadScenario, ScenarioText } from "@kubewright/analysis/input";
import { UserError } from "@kubewright/analysis/errors";

/**
 * Reads a plan: a scenario file that contains all its objects.
 *
 * @throws UserError with one line for each mistake: `file:line:column: path: what is wrong; hint`.
 */
export async function loadPlan(path: string, io: InputIo): Promise<FaultPlan> {
  let text: string;
  try {
    text = await io.readFile(path);
  } catch (error) {
    throw new UserError(`--replay: ${path}: ${ioProblem(error)}`, { cause: error });
  }
  // Reports every mistake of a scenario.
  await loadScenario(path, io);
  const source = new ScenarioText(text, path);
  const file = source.value() as ScenarioFile;
  const { manifests = [], events: scenarioEvents = [], start, for: length, seed = 1 } = file;
  const message = "is the name of a file, and a plan has its objects written out; write what the file holds here";
  const named = [
    ...manifests.map((entry, index) => ({ entry, path: ["manifests", index] })),
    ...scenarioEvents.map(({ apply }, index) => ({ entry: apply, path: ["events", index, "apply"] })),
  ].filter(({ entry }) => typeof entry === "string");
  if (named.length > 0) source.throwProblems(named.map(({ path: at }) => ({ path: at, message })));
  return {
    ...file,
    seed,
    start: start ?? formatTime(DEFAULT_START_MS),
    for: length ?? formatDuration(DEFAULT_DURATION_MS),
    manifests: manifests as readonly UnstructuredObject[],
  };
}
