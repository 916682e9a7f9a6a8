import { YamlDocument, YamlError, type YamlPath } from "@kubewright/apiserver/yaml";
import { MAX_NESTING, isNestedDeeper } from "@kubewright/cluster";

import type { DocumentText } from "./split-documents.js";

/** A parsed document, with the places of its fields. */
export interface ReadDocument {
  readonly value: unknown;
  /** Whether it was parsed as JSON: the first request for a place then parses the whole text again. */
  readonly isJson: boolean;
  /** `file:line` */
  readonly source: string;
  readonly place: (path: YamlPath, options?: { readonly atKey?: boolean }) => string;
  /** Returns `file:line:column: the key "x" is repeated here` for each repeated key of a map; the last one counts. */
  readonly repeatedKeys: () => readonly string[];
}

/** The reason why a document cannot be parsed, with its place. */
export interface UnreadableDocument {
  readonly problem: string;
}

/**
 * Parses one document. JSON is parsed as JSON, which is many times faster, and as YAML only to find a place in it.
 *
 * @param file - File name for messages.
 */
export function readDocument(document: DocumentText, file: string): ReadDocument | UnreadableDocument {
  const { text, line } = document;
  if (document.problem !== undefined) return { problem: `${file}:${line}: not YAML: ${document.problem}` };
  // The YAML tree has several times the size of the data and is needed only for places. The weak reference lets a long
  // run release it.
  let cached: WeakRef<YamlDocument> | undefined;
  const yaml = (): YamlDocument => {
    const known = cached?.deref();
    if (known !== undefined) return known;
    const parsed = new YamlDocument(text);
    cached = new WeakRef(parsed);
    return parsed;
  };
  const at = (place: { readonly line: number; readonly column: number }): string =>
    `${file}:${place.line + line - 1}:${place.column}`;
  try {
    const json = parseJson(text);
    if (isNestedDeeper(json)) return { problem: `${file}:${line}: is nested more than ${MAX_NESTING} levels deep` };
    const value = json ?? yaml().value();
    const first = text.search(/^(?!\s*(#.*)?$)/m);
    const firstLine = line + (first < 0 ? 0 : text.slice(0, first).split("\n").length - 1);
    return {
      value,
      isJson: json !== undefined,
      source: `${file}:${firstLine}`,
      place: (path, options) => at(yaml().place(path, options)),
      repeatedKeys: () =>
        yaml()
          .repeatedKeys()
          .map(
            (repeated) =>
              `${at(repeated)}: the key ${JSON.stringify(repeated.key)} is repeated here; the last one counts`,
          ),
    };
  } catch (error) {
    if (error instanceof YamlError) return { problem: `${at(error)}: not YAML: ${error.message}${hint(text)}` };
    throw error;
  }
}

function parseJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function hint(text: string): string {
  return isTemplate(text)
    ? "; it has template actions: render it first, as with `helm template CHART | kubewright run -`"
    : "";
}

/** Whether a text has actions of Go templates in it, as unrendered Helm charts do. */
export function isTemplate(text: string): boolean {
  return /\{\{-?\s*[^}]*\}\}/.test(text);
}
