import type { Scenario } from "../src/scenario/scenario.js";
import { simulate } from "../src/run/simulation.js";
import type { TraceRecord } from "../src/run/trace.js";

/** Simulates a scenario to its end. Returns its records and the problems of refused objects. */
export async function simulateScenario(
  scenario: Scenario,
  { freeze = true } = {},
): Promise<{ readonly records: readonly TraceRecord[]; readonly problems: readonly string[] }> {
  const records: TraceRecord[] = [];
  const problems: string[] = [];
  const { manifests, startMs, durationMs, seed } = scenario;
  await simulate({
    manifests,
    startMs,
    durationMs,
    seed,
    scenario,
    timeZoneData: "test",
    freeze,
    emit: (record) => records.push(record),
    onProblem: (problem) => problems.push(problem),
  });
  return { records, problems };
}
