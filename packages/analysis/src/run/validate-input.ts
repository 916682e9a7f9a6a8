import { Findings } from "../input/findings.js";
import type { RunInput } from "../input/run-input.js";
import { simulate } from "./simulation.js";

/**
 * Creates the input on an API server without virtual time, and returns the problems that it reports.
 *
 * @throws UserError when nothing is left to simulate.
 */
export async function validateInput(
  input: RunInput,
  timeZoneData: string,
  findings: Findings = new Findings(input),
): Promise<Findings> {
  await simulate({
    ...input,
    durationMs: 0,
    timeZoneData,
    emit: () => {},
    onCreated: (outcome) => findings.add(outcome),
  });
  return findings;
}
