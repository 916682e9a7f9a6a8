import { RE2JS } from "re2js";

import { instructionCount } from "../custom-resources/patterns.js";
import { EvaluationProblem } from "./values.js";

/** Patterns that are kept compiled, and instructions of one. */
const MAX_CACHED = 256;
const MAX_INSTRUCTIONS = 20_000;

/** Regular expressions as Go reads them. Matching takes time in proportion to the text. */
export class Regexes {
  readonly #compiled = new Map<string, RE2JS>();

  /** Whether it is one. */
  isValid(pattern: string): boolean {
    try {
      this.#get(pattern);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the text has something that the pattern describes. */
  test(pattern: string, text: string): boolean {
    return this.#get(pattern).test(text);
  }

  /** The first so many parts that the pattern describes. */
  findAll(pattern: string, text: string, max: number): string[] {
    const matcher = this.#get(pattern).matcher(text);
    const found: string[] = [];
    while (found.length < max && matcher.find()) found.push(matcher.group() ?? "");
    return found;
  }

  #get(pattern: string): RE2JS {
    let compiled = this.#compiled.get(pattern);
    if (compiled !== undefined) return compiled;
    // Deliberate: Go takes longer ones, which are compiled here in seconds.
    if (instructionCount(pattern) > MAX_INSTRUCTIONS)
      throw new EvaluationProblem("error parsing regexp: expression too large");
    try {
      compiled = RE2JS.compile(pattern);
    } catch (error) {
      throw new EvaluationProblem((error as Error).message);
    }
    if (this.#compiled.size >= MAX_CACHED) this.#compiled.clear();
    this.#compiled.set(pattern, compiled);
    return compiled;
  }
}
