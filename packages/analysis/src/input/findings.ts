import { UserError } from "../errors/user-error.js";
import type { RunInput } from "./run-input.js";
import type { CreateOutcome } from "./create-manifests.js";
import { nothingToSimulate } from "./nothing-to-simulate.js";

/** The problems and notes of a run's input, from its parsing and from the API server. */
export class Findings {
  readonly #input: RunInput;
  /** One line for each mistake. */
  readonly problems: string[];
  /** One line each. */
  readonly notes: string[];

  constructor(input: RunInput) {
    this.#input = input;
    this.problems = [...input.problems];
    this.notes = [...input.notes];
  }

  /** @throws UserError with all notes and problems when nothing is left to simulate. */
  add(outcome: CreateOutcome): void {
    this.problems.push(...outcome.problems);
    this.notes.push(...outcome.notes);
    const { manifests, live, scenario } = this.#input;
    // Scenario events may create the workloads.
    const mayHaveMore = manifests.length === 0 || live !== undefined || (scenario?.events.length ?? 0) > 0;
    const nothing = mayHaveMore ? undefined : nothingToSimulate(outcome.created);
    if (nothing === undefined) return;
    const hasReason = this.problems.length > 0 && outcome.created.length === 0;
    // Without workloads the reason is the only output.
    throw new UserError([...this.notes, ...this.problems, ...(hasReason ? [] : [nothing])].join("\n"));
  }
}
