import {
  Composer,
  type Document,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  isMap,
  isScalar,
  stringify,
  visit,
} from "yaml";

import { duplicateFields } from "./duplicate-fields.js";
import { MAX_NESTING, TOO_DEEP, isNestedDeeper } from "./nesting.js";

/**
 * Reading takes time in proportion to the text only without the library's own look for repeated keys. A time is the text
 * that it is, as Go's reader takes it.
 */
const READING = {
  version: "1.1",
  uniqueKeys: false,
  customTags: (tags) => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp"),
} satisfies ConstructorParameters<typeof Composer>[0];

/** Aliases are counted, so that a small text cannot become a big object. */
const MOST_ALIASES = 100;

/** What is nested deeper is printed as the JSON that it is, too: in a block, every line begins with as many spaces as it is deep. */
const BLOCK_LEVELS = 100;

/**
 * YAML 1.1, as Kubernetes reads it (`y` is a boolean).
 *
 * @throws Error, its message as `line 3: what is wrong`, when it is none, or nested too deeply.
 */
export function parseYaml(text: string): unknown {
  const json = parseJson(text);
  if (json !== undefined) {
    if (isNestedDeeper(json)) throw tooDeep();
    return json;
  }
  const lines = new LineCounter();
  const document = readDocument(text, lines);
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw new Error(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  const value = (document?.toJS({ maxAliasCount: MOST_ALIASES }) ?? null) as unknown;
  // Aliases may make it deeper than it is written, or endless.
  if (isNestedDeeper(value)) throw tooDeep();
  // Strings that were cut out of the text would keep all of it.
  return JSON.parse(JSON.stringify(value, finite)) as unknown;
}

/** The complaint about the first key that a map gives twice. */
export function repeatedYamlKey(text: string): string | undefined {
  if (parseJson(text) !== undefined && duplicateFields(text).length === 0) return undefined;
  const lines = new LineCounter();
  const document = readDocument(text, lines);
  let complaint: string | undefined;
  if (document !== undefined)
    visit(document, (_key, node) => {
      if (!isMap(node)) return undefined;
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line, col } = lines.linePos(key.range?.[0] ?? 0);
          complaint = `Map keys must be unique at line ${line}, column ${col}:`;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    });
  return complaint;
}

/** Most YAML that clients send is JSON, and read as that many times faster. */
function parseJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The first document. Watches how deep the text goes while it is cut up, as what comes after that calls itself. */
function readDocument(text: string, lines: LineCounter): Document.Parsed<ParsedNode> | undefined {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ ...READING, lineCounter: lines });
  lines.addNewLine(0);
  const tokens = function* () {
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme);
      // The document, and what the innermost list or object has at hand.
      if (parser.stack.length > MAX_NESTING + 2) throw tooDeep(lines.linePos(parser.offset).line);
    }
    yield* parser.end();
  };
  for (const document of composer.compose(tokens(), true, text.length)) return document;
  return undefined;
}

/** As Go's reader words it, which has its own limit. */
function tooDeep(line = 1): Error {
  return new Error(`line ${line}: ${TOO_DEEP} of ${MAX_NESTING}`);
}

function finite(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`json: unsupported value: ${value}`);
  return value;
}

export function formatYaml(value: unknown): string {
  return isNestedDeeper(value, BLOCK_LEVELS) ? `${JSON.stringify(value)}\n` : block(value);
}

/** The same as an element of a list: `- kind: Pod`, and the lines after that two to the right. */
export function formatYamlElement(value: unknown): string {
  return isNestedDeeper(value, BLOCK_LEVELS) ? `- ${JSON.stringify(value)}\n` : block([value]);
}

function block(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: "1.1", sortMapEntries: true });
}
