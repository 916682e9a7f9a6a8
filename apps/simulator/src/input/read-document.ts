import { YamlDocument, YamlError, type YamlPath } from "@kubewright/apiserver/yaml";
import { MAX_NESTING, isNestedDeeper } from "@kubewright/cluster";

import type { DocumentText } from "./split-documents.js";

/** A document as data, and where its parts stand. */
export interface ReadDocument {
  readonly value: unknown;
  /** Whether it was read as JSON, so that asking for a place means to read all of it once more. */
  readonly isJson: boolean;
  /** `file:line` */
  readonly source: string;
  readonly place: (path: YamlPath, options?: { readonly atKey?: boolean }) => string;
  /** `file:line:column: the key "x" stands here once more` for each key that a map gives again; the later one counts. */
  readonly repeatedKeys: () => readonly string[];
}

/** Why a document could not be read, with its place. */
export interface UnreadableDocument {
  readonly problem: string;
}

/**
 * Reads one document. JSON is read as JSON, which is many times faster, and as YAML only to find a place in it.
 *
 * @param file - Its name for people.
 */
export function readDocument(document: DocumentText, file: string): ReadDocument | UnreadableDocument {
  const { text, line } = document;
  if (document.problem !== undefined) return { problem: `${file}:${line}: not YAML: ${document.problem}` };
  // Several times the size of the data, and needed again only for a place in it: a long run is not to keep it.
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
