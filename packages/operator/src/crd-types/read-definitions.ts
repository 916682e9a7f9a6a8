import { LineCounter, parseAllDocuments } from "yaml";

import { isObject, listAt, objectAt, type JsonObject } from "./json-data.js";

/** A file has no readable CustomResourceDefinition. The message has one line, with the file. */
export class DefinitionFileError extends Error {
  override readonly name = "DefinitionFileError";
}

const API_VERSION = "apiextensions.k8s.io/v1";

/**
 * Reads the CustomResourceDefinitions of a file: YAML documents, JSON, or Lists of them. Skips objects of other kinds.
 *
 * @param file - Name of the file in messages.
 * @throws DefinitionFileError for invalid YAML, another apiVersion, or a file without definitions.
 */
export function readDefinitions(file: string, text: string): JsonObject[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, uniqueKeys: false });
  const found: JsonObject[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error !== undefined) {
      const { line, col } = lineCounter.linePos(error.pos[0]);
      throw new DefinitionFileError(`${file}:${line}:${col}: ${error.message.split("\n", 1)[0]!.replace(/:$/, "")}`);
    }
    found.push(...definitionsIn(document.toJS() as unknown, file));
  }
  if (found.length === 0)
    throw new DefinitionFileError(
      `${file}: has no CustomResourceDefinition: name a file with kind: CustomResourceDefinition`,
    );
  return found;
}

function definitionsIn(value: unknown, file: string): readonly JsonObject[] {
  if (!isObject(value)) return [];
  const { apiVersion, kind, items, metadata } = value;
  if (typeof kind === "string" && kind.endsWith("List"))
    return listAt(items).flatMap((item) => definitionsIn(item, file));
  if (kind !== "CustomResourceDefinition") return [];
  const { name } = objectAt(metadata);
  if (apiVersion !== API_VERSION)
    throw new DefinitionFileError(
      `${file}: CustomResourceDefinition ${String(name)} has apiVersion ${String(apiVersion)}: convert it to ${API_VERSION}`,
    );
  const { group, names, versions } = objectAt(value["spec"]);
  const { kind: itsKind, plural } = objectAt(names);
  for (const [path, part] of Object.entries({
    "spec.group": group,
    "spec.names.kind": itsKind,
    "spec.names.plural": plural,
  }))
    if (typeof part !== "string" || part === "")
      throw new DefinitionFileError(`${file}: CustomResourceDefinition ${String(name)} has no ${path}`);
  if (listAt(versions).length === 0)
    throw new DefinitionFileError(`${file}: CustomResourceDefinition ${String(name)} has no spec.versions`);
  return [value];
}
