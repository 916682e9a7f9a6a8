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

/**
 * Estimates the number of instructions of a pattern without compiling it. The result is roughly an upper bound.
 * Exported for its test.
 */
export function instructionCount(pattern: string): number {
  /** The sizes of the enclosing groups before the current group. */
  const outer: number[] = [];
  let size = 0;
  /** The size of the last element, which a repetition would repeat. */
  let last = 0;
  const next = (count: number): void => {
    size += last;
    last = count;
  };
  for (let index = 0; index < pattern.length; index++) {
    switch (pattern[index]) {
      case "(":
        next(0);
        outer.push(size);
        size = 0;
        break;
      case ")":
        last += size + 2;
        size = outer.pop() ?? 0;
        break;
      case "[":
        next(1);
        index = classEnd(pattern, index);
        break;
      case "\\":
        index++;
        next(1);
        if (pattern[index] === "Q") {
          const end = pattern.indexOf("\\E", index);
          next((end < 0 ? pattern.length : end) - index);
          index = end < 0 ? pattern.length : end + 1;
        }
        break;
      case "{": {
        const repetition = REPETITION.exec(pattern.slice(index, index + MAX_REPETITION_LENGTH));
        if (repetition === null) next(1);
        else {
          last = last * 2 * Math.max(1, Number(repetition[1]), Number(repetition[2] ?? 0)) + 2;
          index += repetition[0].length - 1;
        }
        break;
      }
      default:
        next(1);
    }
  }
  return outer.reduce((sum, group) => sum + group, size + last + 2);
}

/** RE2 refuses more than 1000 repetitions. */
const REPETITION = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/;
const MAX_REPETITION_LENGTH = "{1000,1000}".length;

/** Returns the index of the end of the character class that starts at `start`. */
function classEnd(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === "^") index++;
  if (pattern[index] === "]") index++;
  for (; index < pattern.length && pattern[index] !== "]"; index++) {
    if (pattern[index] === "\\") index++;
    else if (pattern.startsWith("[:", index)) {
      const end = pattern.indexOf(":]", index + 2);
      if (end >= 0) index = end + 1;
    }
  }
  return index;
}
