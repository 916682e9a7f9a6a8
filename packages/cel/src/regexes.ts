import { RE2JS } from "re2js";

import { instructionCount } from "./instruction-count.js";
import { EvaluationProblem } from "./values.js";

/** The number of cached patterns, and the maximum number of instructions of one pattern. */
const MAX_CACHED = 256;
const MAX_INSTRUCTIONS = 20_000;

/** Compiles and caches regular expressions in Go's syntax (RE2). Matching takes time linear in the text. */
export class Regexes {
  readonly #compiled = new Map<string, RE2JS>();

  /** Whether the pattern compiles. */
  isValid(pattern: string): boolean {
    try {
      this.#get(pattern);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the pattern matches any part of the text. */
  test(pattern: string, text: string): boolean {
    return this.#get(pattern).test(text);
  }

  /** Returns the first matches, at most `max` of them. */
  findAll(pattern: string, text: string, max: number): string[] {
    const matcher = this.#get(pattern).matcher(text);
    const found: string[] = [];
    while (found.length < max && matcher.find()) found.push(matcher.group() ?? "");
    return found;
  }

  #get(pattern: string): RE2JS {
    let compiled = this.#compiled.get(pattern);
    if (compiled !== undefined) return compiled;
    // Deliberate: Go accepts larger patterns, but compiling them here takes seconds.
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
