import { Lexer } from "yaml";

/** What the lexer has of its own, which its types keep to themselves. */
interface Indentation {
  /** Columns that the lines of a value must be indented by, at the least. */
  indentNext: number;
  parseFlowCollection(): Generator<string, string | undefined>;
  parseQuotedScalar(): Generator<string, string | undefined>;
}

const Base = Lexer as unknown as new () => Pick<Lexer, "lex"> & Indentation;

/**
 * Cuts YAML up as kubectl does, to whom indentation means nothing between brackets and quotes (go-yaml `scannerc.go`, where
 * `yaml_parser_unroll_indent` leaves flow alone and `yaml_parser_scan_flow_scalar` skips blanks). YAML's specification wants
 * such lines indented; what older generators of definitions wrote, and many people, is not.
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
