import { ITEM, type Step } from "./json-schema.ts";

/** The position of the cursor in the structure of a YAML document, which may be incomplete. */
export interface YamlPosition {
  /** Whether the cursor is in a field name, or in the value of the field or item that `path` ends with. */
  readonly at: "key" | "value";
  readonly path: readonly Step[];
  /** The text of the name or value before the cursor. */
  readonly typed: string;
  /** Names of the object's other fields. */
  readonly siblings: ReadonlySet<string>;
  /** Scalars at the top level of the document: `apiVersion`, `kind`. */
  readonly top: ReadonlyMap<string, string>;
  /** Indentation of the object, in columns. */
  readonly indent: number;
  /** Whether the cursor is within braces or brackets. */
  readonly isFlow: boolean;
}

/** An object or list that later lines may continue. */
interface Level {
  /** -1 within braces or brackets. */
  readonly indent: number;
  readonly step: Step | undefined;
  readonly keys: Set<string>;
}

const KEY =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#'"{}[\],&*!|>%@`-][^#{}[\],]*?|-[^\s#{}[\],][^#{}[\],]*?)\s*:(?=\s|$)/;
const BLOCK_SCALAR = /^(?:[&!]\S+\s+)*[|>][-+0-9]*\s*(?:#.*)?$/;

/**
 * Returns the position of the cursor in the document's structure. Reads indentation, dashes, names and brackets line by
 * line, because a parser fails on an incomplete document.
 *
 * @param offset - Offset of the cursor, in characters.
 */
export function yamlPosition(text: string, offset: number): YamlPosition | undefined {
  const { from, to } = documentAround(text, offset);
  const reader = new LineReader();
  let place: Omit<YamlPosition, "top"> | undefined;
  let start = from;
  while (start <= to) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 || newline > to ? to : newline;
    const isCurrentLine = start <= offset && offset <= end;
    if (isCurrentLine) {
      place = reader.placeAt(text.slice(start, offset));
      if (place === undefined) return undefined;
    }
    reader.read(text.slice(start, end));
    start = end + 1;
  }
  return place === undefined ? undefined : { ...place, top: reader.top };
}

function documentAround(text: string, offset: number): { from: number; to: number } {
  let from = 0;
  for (const { index } of text.matchAll(/^---.*$/gm)) {
    const behind = text.indexOf("\n", index);
    const next = behind < 0 ? text.length : behind + 1;
    if (next > offset) return { from, to: Math.max(from, index - 1) };
    from = next;
  }
  return { from, to: text.length };
}

class LineReader {
  readonly top = new Map<string, string>();
  #levels: Level[] = [{ indent: -1, step: undefined, keys: new Set() }];
  /** Open brackets with their content so far. */
  #flow: FlowLevel[] = [];
  /** Lines with a deeper indentation are the text of a block scalar. */
  #scalarIndent: number | undefined;

  read(line: string): void {
    const indent = indentOf(line);
    let rest = line.slice(indent);
    if (rest === "" || rest.startsWith("#")) return;
    if (this.#isText(indent)) return;
    if (this.#flow.length > 0) return readFlow(this.#flow, rest);
    const at = this.#enter(rest, indent);
    rest = at.rest;
    const key = KEY.exec(rest);
    const value = key === null ? rest : rest.slice(key[0].length).trimStart();
    if (key !== null) {
      const name = unquoted(key[1]!);
      this.#innermost.keys.add(name);
      if (this.#levels.length === 1 && value !== "") this.top.set(name, unquoted(value.replace(/\s+#.*$/, "")));
      this.#levels.push({ indent: at.indent, step: name, keys: new Set() });
    }
    if (BLOCK_SCALAR.test(value)) this.#scalarIndent = indent;
    else if (/^[{[]/.test(value)) readFlow(this.#flow, value);
  }

  /** @param before - The line up to the cursor. */
  placeAt(before: string): Omit<YamlPosition, "top"> | undefined {
    const indent = indentOf(before);
    const scalarIndent = this.#scalarIndent;
    if (scalarIndent !== undefined && indent > scalarIndent) return undefined;
    if (before.slice(indent).startsWith("#")) return undefined;
    const levels = [...this.#levels];
    const flow = this.#flow.map((level) => ({ ...level, keys: new Set(level.keys) }));
    try {
      if (flow.length > 0) return this.#inFlow(flow, before.slice(indent));
      const { rest, indent: column } = this.#enter(before.slice(indent), indent);
      const key = KEY.exec(rest);
      const behindKey = key === null ? "" : rest.slice(key[0].length);
      if (key !== null && behindKey === "") return undefined;
      const value = key === null ? rest : behindKey.trimStart();
      if (key !== null) this.#levels.push({ indent: column, step: unquoted(key[1]!), keys: new Set() });
      if (/\s#/.test(value)) return undefined;
      if (/^[{[]/.test(value)) return this.#inFlow([], value);
      const shared = { typed: value, path: this.#path(), indent: column, isFlow: false };
      return key === null
        ? { ...shared, at: "key", siblings: this.#innermost.keys }
        : { ...shared, at: "value", siblings: new Set() };
    } finally {
      // Restores the state from before the lookup.
      this.#levels = levels;
    }
  }

  get #innermost(): Level {
    return this.#levels.at(-1)!;
  }

  #path(): Step[] {
    return this.#levels.flatMap(({ step }) => (step === undefined ? [] : [step]));
  }

  #isText(indent: number): boolean {
    if (this.#scalarIndent === undefined) return false;
    if (indent > this.#scalarIndent) return true;
    this.#scalarIndent = undefined;
    return false;
  }

  /** Leaves levels deeper than this line, and enters its list items. */
  #enter(text: string, indent: number): { rest: string; indent: number } {
    let [rest, column] = [text, indent];
    const isItem = (): boolean => /^-(\s|$)/.test(rest);
    // A list may have the same indentation as its field.
    while (
      this.#innermost.indent > column ||
      (this.#innermost.indent === column && !(isItem() && this.#innermost.step !== ITEM))
    )
      this.#levels.pop();
    while (isItem()) {
      this.#levels.push({ indent: column, step: ITEM, keys: new Set() });
      const width = /^-\s*/.exec(rest)![0].length;
      column += rest.length === width && width === 1 ? 2 : width;
      rest = rest.slice(width);
    }
    return { rest, indent: column };
  }

  #inFlow(flow: FlowLevel[], text: string): Omit<YamlPosition, "top"> | undefined {
    readFlow(flow, text);
    const innermost = flow.at(-1);
    if (innermost === undefined || innermost.quote !== "") return undefined;
    const steps = flow.slice(0, -1).flatMap((level): Step[] => (level.isList ? [ITEM] : [level.key ?? ""]));
    const typed = innermost.text.trimStart();
    const path = [...this.#path(), ...steps];
    const shared = { typed, indent: 0, isFlow: true };
    if (innermost.isList) return { ...shared, at: "key", path: [...path, ITEM], siblings: new Set() };
    return innermost.key === undefined
      ? { ...shared, at: "key", path, siblings: innermost.keys }
      : { ...shared, at: "value", path: [...path, innermost.key], siblings: new Set() };
  }
}

interface FlowLevel {
  readonly isList: boolean;
  readonly keys: Set<string>;
  /** The field of the current value. */
  key: string | undefined;
  /** The text since the last comma, colon or bracket. */
  text: string;
  quote: string;
}

function readFlow(levels: FlowLevel[], text: string): void {
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    const level = levels.at(-1);
    if (level !== undefined && level.quote !== "") {
      level.text += character;
      if (character === level.quote) level.quote = "";
    } else if (character === "{" || character === "[") {
      levels.push({ isList: character === "[", keys: new Set(), key: undefined, text: "", quote: "" });
    } else if (level === undefined) return;
    else if (character === "}" || character === "]") levels.pop();
    else if (character === ",") [level.key, level.text] = [undefined, ""];
    else if (character === ":" && !level.isList && /^\s?$/.test(text[index + 1] ?? "")) {
      level.key = unquoted(level.text.trim());
      level.keys.add(level.key);
      level.text = "";
    } else {
      if ((character === '"' || character === "'") && level.text.trim() === "") level.quote = character;
      level.text += character;
    }
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^(["']).*\1$/.test(trimmed) && trimmed.length > 1 ? trimmed.slice(1, -1) : trimmed;
}
