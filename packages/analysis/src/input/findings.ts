import { UserError } from "../errors/user-error.js";
import type { CreateOutcome } from "./create-manifests.js";
import { type FoundObjects, type InputProblem, problemLines } from "./input-problem.js";
import { isLive } from "./live-state.js";
import { identityOf } from "./manifest.js";
import { nothingToSimulate } from "./nothing-to-simulate.js";
import type { RunInput } from "./run-input.js";

/** The mistakes and notes of a run's input, from its parsing and from the API server. */
export class Findings {
  readonly #input: RunInput;
  /** One line for each mistake because of which the command ends with status 2. */
  readonly problems: string[];
  /** One line each, also for CronJobs and Jobs that are left out and for objects that the run does not need. */
  readonly notes: string[];
  readonly #mistakes: InputProblem[] = [];
  /** Kinds of simulated CronJobs and Jobs. */
  readonly #simulated: string[];

  constructor(input: RunInput) {
    this.#input = input;
    this.problems = [...input.problems];
    this.notes = [...input.notes];
    this.#simulated = liveKinds(input);
    this.#addMistakes(input.mistakes);
  }

  /** The objects of the input. Complete after `add`. */
  get found(): FoundObjects {
    const leftOut = this.#mistakes.filter(({ kind }) => kind === "leftOut").map(({ object }) => object);
    const kinds = [...this.#simulated, ...[...new Set(leftOut)].map((object) => object.split(" ", 1)[0]!)];
    const cronJobs = kinds.filter((kind) => /^CronJob$/i.test(kind)).length;
    return { cronJobs, jobs: kinds.length - cronJobs, files: this.#input.files, mistakes: this.#mistakes };
  }

  /** @throws UserError with all notes and problems when nothing is left to simulate. */
  add(outcome: CreateOutcome): void {
    this.#addMistakes(outcome.problems);
    this.#simulated.push(...outcome.created.filter((kind) => kind === "CronJob" || kind === "Job"));
    this.notes.push(...outcome.notes);
    const { manifests, live, scenario } = this.#input;
    // Scenario events may create the workloads.
    const mayHaveMore = manifests.length === 0 || live !== undefined || (scenario?.events.length ?? 0) > 0;
    const nothing = mayHaveMore ? undefined : nothingToSimulate(outcome.created);
    if (nothing === undefined) return;
    const hasReason = this.problems.length + this.#mistakes.length > 0 && outcome.created.length === 0;
    // Without workloads the reason is the only output.
    throw new UserError([...this.notes, ...this.problems, ...(hasReason ? [] : [nothing])].join("\n"));
  }

  #addMistakes(mistakes: readonly InputProblem[]): void {
    const { problems, notes } = problemLines(mistakes, this.#input.strict);
    this.#mistakes.push(...mistakes);
    this.problems.push(...problems);
    this.notes.push(...notes);
  }
}

/** Returns the kinds of live CronJobs, and of live Jobs without one, that no manifest replaces. */
function liveKinds({ manifests }: RunInput): string[] {
  const given = new Set(manifests.filter(({ object }) => !isLive(object)).map(({ object }) => identityOf(object)));
  return manifests.flatMap(({ object }) => {
    const { kind = "", metadata } = object;
    const isOwned = metadata.ownerReferences?.some((owner) => owner.kind === "CronJob") ?? false;
    const isWorkload = kind === "CronJob" || (kind === "Job" && !isOwned);
    return isWorkload && isLive(object) && !given.has(identityOf(object)) ? [kind] : [];
  });
}
