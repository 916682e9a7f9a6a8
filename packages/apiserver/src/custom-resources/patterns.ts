import { instructionCount } from "@kubewright/cel";
import { RE2JS } from "re2js";

/**
 * The maximum number of instructions of all patterns of a CustomResourceDefinition. Deliberate: Go permits three
 * million for each pattern, and compiling that many here takes some twenty seconds.
 */
const MAX_INSTRUCTIONS = 100_000;
/**
 * The maximum size of the cache of compiled patterns and their matcher states. The cache is cleared when it is full.
 */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
const BYTES_PER_INSTRUCTION = 200;
/** The estimated matcher state that a pattern adds for each character of a text, and its maximum. */
const BYTES_PER_CHARACTER = 500;
const MAX_STATE_BYTES = 8 * 1024 * 1024;

/** Validates the patterns of a CustomResourceDefinition. Patterns have Go's syntax (RE2). */
export class PatternChecker {
  readonly #errors = new Map<string, string | undefined>();
  #instructions = 0;

  /** Returns Go's error message for a pattern; `undefined` when the pattern is valid. */
  errorOf(pattern: string): string | undefined {
    if (this.#errors.has(pattern)) return this.#errors.get(pattern);
    this.#instructions += instructionCount(pattern);
    const error =
      this.#instructions > MAX_INSTRUCTIONS ? `${SYNTAX} expression too large: \`${pattern}\`` : syntaxError(pattern);
    this.#errors.set(pattern, error);
    return error;
  }
}

/** A compiled pattern. */
export interface Pattern {
  /** The cost of matching one character. */
  readonly instructions: number;
  /** Whether the pattern matches any part of the text. The match is not anchored. */
  test(text: string): boolean;
}

/** Compiles patterns on first use and caches them. Matching takes time linear in the text. */
export class Patterns {
  readonly #compiled = new Map<string, CompiledPattern | undefined>();
  #bytes = 0;

  /** Returns a compiled pattern; `undefined` for an invalid pattern, which an older server may have accepted. */
  get(source: string): Pattern | undefined {
    if (this.#compiled.has(source)) return this.#compiled.get(source);
    const instructions = instructionCount(source);
    const compiled =
      instructions > MAX_INSTRUCTIONS
        ? undefined
        : CompiledPattern.compile(source, instructions, (bytes) => this.#addBytes(bytes));
    this.#compiled.set(source, compiled);
    this.#addBytes(source.length + instructions * BYTES_PER_INSTRUCTION);
    return compiled;
  }

  #addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_CACHED_BYTES) return;
    this.#compiled.clear();
    this.#bytes = 0;
  }
}

class CompiledPattern implements Pattern {
  readonly #expression: RE2JS;
  readonly #onGrowth: (bytes: number) => void;
  #stateBytes = 0;

  static compile(source: string, instructions: number, onGrowth: (bytes: number) => void): CompiledPattern | undefined {
    try {
      return new CompiledPattern(RE2JS.compile(source), instructions, onGrowth);
    } catch {
      return undefined;
    }
  }

  private constructor(
    expression: RE2JS,
    readonly instructions: number,
    onGrowth: (bytes: number) => void,
  ) {
    this.#expression = expression;
    this.#onGrowth = onGrowth;
  }

  test(text: string): boolean {
    const bytes = Math.min(
      MAX_STATE_BYTES - this.#stateBytes,
      text.length * (BYTES_PER_CHARACTER + 8 * this.instructions),
    );
    if (bytes > 0) {
      this.#stateBytes += bytes;
      this.#onGrowth(bytes);
    }
    return this.#expression.test(text);
  }
}

const SYNTAX = "error parsing regexp:";

function syntaxError(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // Go's messages always end with the offending part.
    if (message === `${SYNTAX} trailing backslash at end of expression`) return `${message}: \`\``;
    return /: `.*`$/s.test(message) ? message : `${message}: \`${pattern}\``;
  }
}
