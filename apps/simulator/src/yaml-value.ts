import { MAX_NESTING, isNestedDeeper } from "@kubewright/cluster";
import { type Document, Lexer, LineCounter, Parser } from "yaml";

import { UserError } from "./user-error.js";

/** Uses of aliases after which a document counts as an attack. */
const MOST_ALIASES = 100;
const TOO_DEEP = `is nested too deeply, more than ${MAX_NESTING} levels`;

/**
 * Refuses text that is nested deeper than the API server takes it. Found while it is cut up, as what comes after that calls
 * itself.
 *
 * @throws UserError with file, line and column.
 */
export function checkNesting(text: string, file: string): void {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    // Nothing is made of the tokens: they are asked for as the parser goes on no further otherwise.
    for (const _ of parser.next(lexeme));
    // The document, and what the innermost list or object has at hand.
    if (parser.stack.length <= MAX_NESTING + 2) continue;
    const { line, col } = lines.linePos(parser.offset);
    throw new UserError(`${file}:${line}:${col}: ${TOO_DEEP}`);
  }
}

/**
 * What a YAML document says, as plain data.
 *
 * @param place - `file:line` of the document.
 * @throws UserError for an alias without its anchor, for more aliases than anybody writes, and for a value that contains itself.
 */
export function yamlValue(document: Document, place: string): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    JSON.stringify(value);
    if (!isNestedDeeper(value)) return value;
  } catch (error) {
    throw new UserError(`${place}: ${problem(error as Error)}`, { cause: error });
  }
  throw new UserError(`${place}: ${TOO_DEEP}`);
}

function problem({ name, message }: Error): string {
  const unresolved = /^Unresolved alias .*: (.*)$/.exec(message)?.[1];
  if (unresolved !== undefined) return `there is no anchor &${unresolved} before the alias *${unresolved}`;
  if (message.startsWith("Excessive alias count")) return "its aliases unfold to too much; write the values out";
  return name === "RangeError" ? TOO_DEEP : "an alias makes a value contain itself; write the value out";
}
