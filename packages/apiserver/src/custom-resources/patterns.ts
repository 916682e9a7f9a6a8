import { RE2JS } from "re2js";

/**
 * Instructions that all patterns of a definition may have together. Deliberate: Go takes three million for each, which are
 * compiled here in some twenty seconds.
 */
const MAX_INSTRUCTIONS = 100_000;
/** Bytes that compiled patterns, and what they have found out about texts, may come to before they are made anew. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
const BYTES_PER_INSTRUCTION = 200;
/** What a pattern keeps of the texts it has seen: so much for a character at the most, and never more than this. */
const BYTES_PER_CHARACTER = 500;
const MAX_STATE_BYTES = 8 * 1024 * 1024;

/** Looks at the patterns of a definition. They are RE2's, as Go reads them. */
export class PatternChecker {
  readonly #errors = new Map<string, string | undefined>();
  #instructions = 0;

  /** What Go says of a pattern it cannot read; `undefined` of one that is fine. */
  errorOf(pattern: string): string | undefined {
    if (this.#errors.has(pattern)) return this.#errors.get(pattern);
    this.#instructions += instructionCount(pattern);
    const error =
      this.#instructions > MAX_INSTRUCTIONS ? `${SYNTAX} expression too large: \`${pattern}\`` : syntaxError(pattern);
    this.#errors.set(pattern, error);
    return error;
  }
}

/** A pattern that can be matched. */
export interface Pattern {
  /** What matching costs, for every character of the text. */
  readonly instructions: number;
  /** Whether the text has something that the pattern describes: it is not anchored. */
  test(text: string): boolean;
}

/** Patterns, compiled when they are needed first. Matching one takes time in proportion to the text. */
export class Patterns {
  readonly #compiled = new Map<string, CompiledPattern | undefined>();
  #bytes = 0;

  /** `undefined` for what is no pattern, as an older server may have let it in. */
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
    // Go says with every error what it is about.
    if (message === `${SYNTAX} trailing backslash at end of expression`) return `${message}: \`\``;
    return /: `.*`$/s.test(message) ? message : `${message}: \`${pattern}\``;
  }
}

/** At most so many instructions a pattern takes, roughly and without compiling it. Exported for its test. */
export function instructionCount(pattern: string): number {
  /** Of the groups that the one at hand is in, each up to it. */
  const outer: number[] = [];
  let size = 0;
  /** What a repetition would repeat. */
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

/** More than a thousand repetitions are refused anyway. */
const REPETITION = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/;
const MAX_REPETITION_LENGTH = "{1000,1000}".length;

/** Where the character class that begins there ends. */
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
