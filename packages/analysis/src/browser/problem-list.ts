import type { Findings } from "../input/findings.js";
import { UserError } from "../errors/user-error.js";
import type { Problem } from "./problem.js";
import type { RequestTexts } from "./request-texts.js";

const DOCUMENTS: readonly Problem["document"][] = ["request", "manifests", "workloads", "scenario"];

/** The problems of a request, without duplicates. */
export class ProblemList {
  readonly #texts: RequestTexts;
  /** By the line that the command prints for each problem. */
  readonly #problems = new Map<string, Problem>();

  constructor(texts: RequestTexts) {
    this.#texts = texts;
  }

  add({ notes, problems, found }: Pick<Findings, "notes" | "problems" | "found">): void {
    for (const note of notes) this.#add(note, "warning");
    for (const problem of problems) this.#add(problem, "error");
    for (const { kind, message } of found.mistakes) if (kind === "leftOut") this.#add(message, "error");
  }

  /** Adds the lines of a UserError; rethrows any other error. */
  addError(error: unknown): void {
    if (!(error instanceof UserError)) throw error;
    // The message repeats all known problems: their severity must stay, and some have several lines.
    const known = new Set([...this.#problems.keys()].flatMap((each) => each.split("\n")));
    for (const line of error.message.split("\n")) if (!known.has(line)) this.#add(line, "error");
  }

  addAll({ lines }: ProblemList): void {
    for (const [line, problem] of lines) if (!this.#problems.has(line)) this.#problems.set(line, problem);
  }

  get lines(): ReadonlyMap<string, Problem> {
    return this.#problems;
  }

  /** Sorted by text, line and column. */
  get all(): readonly Problem[] {
    return [...this.#problems.values()].sort(
      (a, b) =>
        DOCUMENTS.indexOf(a.document) - DOCUMENTS.indexOf(b.document) ||
        (a.line ?? 0) - (b.line ?? 0) ||
        (a.column ?? 0) - (b.column ?? 0),
    );
  }

  /** Throws the errors in the command's format. @throws UserError with a line for each error, if there are any. */
  throwErrors(): void {
    const errors = [...this.#problems].filter(([, { severity }]) => severity === "error").map(([line]) => line);
    if (errors.length > 0) throw new UserError(errors.join("\n"));
  }

  #add(line: string, severity: Problem["severity"]): void {
    this.#problems.set(line, this.#texts.problem(line, severity));
  }
}
