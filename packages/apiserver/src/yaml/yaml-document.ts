import {
  type Alias,
  type CST,
  Composer,
  Document,
  type DocumentOptions,
  LineCounter,
  type Node,
  type Pair,
  type ParseOptions,
  type ParsedNode,
  Parser,
  type Scalar,
  type ScalarTag,
  type SchemaOptions,
  type YAMLMap,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  visit,
} from "yaml";

import { MAX_NESTING, TOO_DEEP } from "../nesting.js";
import { floatKey } from "./float-key.js";
import { LenientLexer } from "./lenient-lexer.js";
import { type ScalarValue, isInteger, plainScalar } from "./plain-scalar.js";
import { YamlError } from "./yaml-error.js";

/** Keys and indexes from the root of a document. */
export type YamlPath = readonly (string | number)[];

/** Maximum number of nodes that all aliases of a document expand to: a small text cannot become a large object. */
const MAX_EXPANDED_NODES = 100_000;
/** In the form of Go's message; Go has another limit. */
const TOO_DEEP_MESSAGE = `${TOO_DEEP} of ${MAX_NESTING}`;

/**
 * One YAML document as kubectl reads it: YAML 1.1 with Go's scalars, converted to JSON as `sigs.k8s.io/yaml` does.
 * Merge keys apply in the order of the text and override earlier keys. The last of equal keys wins. Keys become text.
 */
export class YamlDocument {
  readonly #document: Document.Parsed<ParsedNode> | Document<ParsedNode>;
  readonly #lines = new LineCounter();
  /** The target of each alias: the last node with that anchor before it. */
  readonly #targets: ReadonlyMap<Node, Node>;
  /** Number of aliases around the current node, and number of nodes expanded through aliases so far. */
  #behindAliases = 0;
  #expanded = 0;

  /** Whether more documents follow; they are ignored. */
  readonly hasMore: boolean;

  /**
   * @param maxTokens - Default: unlimited.
   * @throws YamlError when the text does not begin with a YAML document, is nested too deeply, or has too many tokens.
   */
  constructor(text: string, maxTokens = Infinity) {
    const composer = new Composer(this.#options());
    const [document, next] = composer.compose(this.#tokens(text, maxTokens), true, text.length);
    this.#document = document ?? new Document<ParsedNode>(null);
    this.hasMore = next !== undefined;
    const [problem] = this.#document.errors;
    if (problem !== undefined) throw this.#error(plainMessage(problem.message.split("\n", 1)[0]!), problem.pos[0]);
    this.#targets = text.includes("*") ? targetsOf(this.#document) : new Map();
  }

  /** Checks the nesting depth during tokenization, because the composer is recursive. */
  *#tokens(text: string, maxTokens: number): Generator<CST.Token> {
    const parser = new Parser(this.#lines.addNewLine);
    this.#lines.addNewLine(0);
    let tokens = 0;
    for (const lexeme of new LenientLexer().lex(text)) {
      if (++tokens > maxTokens)
        throw this.#error(`the document has more than ${maxTokens} tokens; send it as JSON`, parser.offset);
      yield* parser.next(lexeme);
      // Two more levels: the document, and the pending item of the innermost collection.
      if (parser.stack.length > MAX_NESTING + 2) throw this.#error(TOO_DEEP_MESSAGE, parser.offset);
    }
    yield* parser.end();
  }

  #options(): ParseOptions & DocumentOptions & SchemaOptions {
    return {
      version: "1.1",
      schema: "failsafe",
      customTags: (tags) => [...tags, plain, ...explicitTags],
      merge: false,
      // The library's check for repeated keys takes quadratic time.
      uniqueKeys: false,
      logLevel: "error",
      prettyErrors: false,
      lineCounter: this.#lines,
    };
  }

  /**
   * Returns the JSON value.
   *
   * @throws YamlError for values that JSON cannot represent, unknown or circular aliases, and keys that are no scalars.
   */
  value(): unknown {
    const { contents } = this.#document;
    return contents === null ? null : this.#value(contents, new Set(), 0);
  }

  /**
   * Returns the position of a value or, with `atKey`, of the key before it. For a missing value returns the position of
   * its parent.
   */
  place(path: YamlPath, { atKey = false } = {}): { readonly line: number; readonly column: number } {
    const { line, col } = this.#lines.linePos(this.#offset(path, atKey));
    return { line, column: col };
  }

  /** Returns the keys that occur more than once in a map; the last one wins. */
  repeatedKeys(): { readonly key: string; readonly line: number; readonly column: number }[] {
    const found: { key: string; line: number; column: number }[] = [];
    const open: Node[] = this.#document.contents === null ? [] : [this.#document.contents];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const seen = new Set<string>();
      if (isSeq(node)) open.push(...(node.items as Node[]));
      for (const { key, value } of isMap(node) ? (node.items as Pair<Node, Node | null>[]) : []) {
        if (value) open.push(value);
        if (!isScalar(key) || isMergeKey(key)) continue;
        const text = String(key.value);
        if (seen.has(text)) {
          const { line, col } = this.#lines.linePos(key.range?.[0] ?? 0);
          found.push({ key: text, line, column: col });
        }
        seen.add(text);
      }
    }
    return found.sort((a, b) => a.line - b.line || a.column - b.column);
  }

  #value(node: Node, within: Set<Node>, depth: number): unknown {
    if (this.#behindAliases > 0 && this.#expanded++ > MAX_EXPANDED_NODES)
      throw this.#error("its aliases unfold to too much; write the values out", node);
    if (isScalar(node)) return this.#scalar(node);
    if (isAlias(node)) return this.#expand(node, within, (target) => this.#value(target, within, depth));
    if (depth >= MAX_NESTING) throw this.#error(TOO_DEEP_MESSAGE, node);
    within.add(node);
    let value: unknown;
    if (isSeq(node)) value = node.items.map((item) => this.#value(item as Node, within, depth + 1));
    else {
      const object = {};
      this.#fill(object, node as YAMLMap<Node, Node | null>, within, depth);
      value = object;
    }
    within.delete(node);
    return value;
  }

  #fill(object: object, map: YAMLMap<Node, Node | null>, within: Set<Node>, depth: number): void {
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) {
        this.#merge(object, value, within, depth);
        continue;
      }
      // Also defines a key `__proto__` as an ordinary member.
      Object.defineProperty(object, this.#key(key, within), {
        value: value === null ? null : this.#value(value, within, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }

  #merge(object: object, source: Node | null, within: Set<Node>, depth: number): void {
    if (isAlias(source)) this.#expand(source, within, (target) => this.#merge(object, target, within, depth));
    else if (isMap(source)) {
      within.add(source);
      this.#fill(object, source as YAMLMap<Node, Node | null>, within, depth + 1);
      within.delete(source);
    } else if (isSeq(source) && !source.items.some((item) => isSeq(item) || isScalar(item))) {
      // The first map in the list takes precedence.
      for (const item of [...(source.items as Node[])].reverse()) this.#merge(object, item, within, depth);
    } else throw this.#error("map merge requires map or sequence of maps as the value", source ?? 0);
  }

  #key(node: Node, within: Set<Node>): string {
    const key = isAlias(node) ? this.#expand(node, within, (target) => target) : node;
    if (!isScalar(key)) throw this.#error("a key must be text, a number or a boolean", node);
    const value = key.value as ScalarValue;
    if (value === null) throw this.#error('a key must be text, a number or a boolean; write "null" in quotes', node);
    const isFloat = typeof value === "number" && !isInteger(key.source ?? "");
    return isFloat ? floatKey(value) : String(value);
  }

  #scalar(node: Scalar): unknown {
    const { value } = node;
    if (typeof value === "number" && !Number.isFinite(value))
      throw this.#error(`${node.source ?? String(value)} is a number that JSON cannot hold; write it in quotes`, node);
    return value;
  }

  #expand<T>(alias: Alias, within: ReadonlySet<Node>, use: (target: Node) => T): T {
    const target = this.#targets.get(alias);
    if (target === undefined)
      throw this.#error(`there is no anchor &${alias.source} before the alias *${alias.source}`, alias);
    if (within.has(target))
      throw this.#error(`the anchor &${alias.source} contains itself; write the value out`, alias);
    this.#behindAliases++;
    const result = use(target);
    this.#behindAliases--;
    return result;
  }

  #offset(path: YamlPath, atKey: boolean): number {
    let node: Node | null = this.#document.contents;
    let offset = node?.range?.[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      if (isAlias(node)) node = this.#targets.get(node) ?? null;
      let next: Node | null | undefined;
      if (isMap(node)) {
        const pair = (node.items as Pair<Node, Node | null>[]).findLast(
          ({ key }) => isScalar(key) && String(key.value) === String(step),
        );
        if (pair === undefined) return offset;
        offset = pair.key.range?.[0] ?? offset;
        if (atKey && depth === path.length - 1) return offset;
        next = pair.value;
      } else if (isSeq(node)) next = node.items[Number(step)] as Node | undefined;
      if (next === undefined || next === null) return offset;
      node = next;
      offset = node.range?.[0] ?? offset;
    }
    return offset;
  }

  #error(message: string, at: Node | number): YamlError {
    const offset = typeof at === "number" ? at : (at.range?.[0] ?? 0);
    const { line, col } = this.#lines.linePos(offset);
    return new YamlError(message, offset, line, col);
  }
}

/** Replaces the library's message for an unclosed bracket: it mentions indentation, which is irrelevant here. */
function plainMessage(message: string): string {
  const [, closing] = /^Flow (?:sequence|map) in block collection must be .* end with a ([\]}])$/.exec(message) ?? [];
  return closing === undefined ? message : `a bracket is not closed: ${closing} is expected`;
}

/** Returns the targets of aliases. Visits nodes in the order of the text, because an anchor may be redefined. */
function targetsOf(document: Document<ParsedNode>): Map<Node, Node> {
  const targets = new Map<Node, Node>();
  const anchors = new Map<string, Node>();
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isNode(node) && "anchor" in node && typeof node.anchor === "string") anchors.set(node.anchor, node);
  });
  return targets;
}

function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.source === "<<" && key.type === "PLAIN";
}

/** Tag of plain scalars. The test of the first character excludes most text. */
const plain: ScalarTag = {
  tag: "tag:yaml.org,2002:plain",
  default: true,
  test: /^(?:$|[-+.0-9~yYnNtTfFoO])/,
  resolve: plainScalar,
};

/** Explicit tags: `!!int "3"` is a number and `!!str 3` is text. */
const explicitTags: readonly ScalarTag[] = [
  ...["null", "bool", "int", "float"].map((name) => ({
    tag: `tag:yaml.org,2002:${name}`,
    resolve: (text: string) => plainScalar(text),
  })),
  { tag: "tag:yaml.org,2002:timestamp", resolve: (text) => text },
  {
    tag: "tag:yaml.org,2002:binary",
    resolve: (text) => new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))),
  },
];
