import { Findings } from "./input/findings.js";
import type { RunInput } from "./run-input.js";
import { simulate } from "./simulation.js";

/**
 * What the API server says of the input, without any time passing.
 *
 * @throws UserError when nothing is left to play.
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
