import { Lexer } from "yaml";

/** Private members of the lexer. */
interface Indentation {
  /** Minimum indentation of a value's lines. */
  indentNext: number;
  parseFlowCollection(): Generator<string, string | undefined>;
  parseQuotedScalar(): Generator<string, string | undefined>;
}

const Base = Lexer as unknown as new () => Pick<Lexer, "lex"> & Indentation;

/**
 * Tokenizes YAML as kubectl does, which ignores indentation inside brackets and quotes (go-yaml `scannerc.go`:
 * `yaml_parser_unroll_indent` skips flow collections and `yaml_parser_scan_flow_scalar` skips blanks). YAML's
 * specification requires indentation there, but older generators of definitions, and many users, do not indent.
 */
export class LenientLexer extends Base {
  override *parseFlowCollection(): Generator<string, string | undefined> {
    return yield* this.#ignoreIndentation(() => super.parseFlowCollection());
  }

  override *parseQuotedScalar(): Generator<string, string | undefined> {
    return yield* this.#ignoreIndentation(() => super.parseQuotedScalar());
  }

  *#ignoreIndentation(parse: () => Generator<string, string | undefined>): Generator<string, string | undefined> {
    const { indentNext } = this;
    this.indentNext = 0;
    const next = yield* parse();
    this.indentNext = indentNext;
    return next;
  }
}
