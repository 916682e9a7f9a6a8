import { stringify } from "yaml";

import { duplicateFields } from "./duplicate-fields.js";
import { MAX_NESTING, TOO_DEEP, isNestedDeeper } from "./nesting.js";
import { YamlDocument } from "./yaml/yaml-document.js";
import { YamlError } from "./yaml/yaml-error.js";

/** What is nested deeper is printed as the JSON that it is, too: in a block, every line begins with as many spaces as it is deep. */
const BLOCK_LEVELS = 100;

/**
 * The first document of a text, as Kubernetes reads it.
 *
 * @throws Error, its message as `line 3: what is wrong`, when it is none, or nested too deeply.
 */
export function parseYaml(text: string): unknown {
  const json = parseJson(text);
  if (json !== undefined) {
    if (isNestedDeeper(json)) throw new Error(`line 1: ${TOO_DEEP} of ${MAX_NESTING}`);
    return json;
  }
  try {
    // Strings that were cut out of the text would keep all of it.
    return JSON.parse(JSON.stringify(new YamlDocument(text).value())) as unknown;
  } catch (error) {
    throw error instanceof YamlError ? new Error(`line ${error.line}: ${error.message}`, { cause: error }) : error;
  }
}

/** The complaint about the first key that a map gives twice. */
export function repeatedYamlKey(text: string): string | undefined {
  if (parseJson(text) !== undefined && duplicateFields(text).length === 0) return undefined;
  const [first] = new YamlDocument(text).repeatedKeys();
  return first === undefined ? undefined : `Map keys must be unique at line ${first.line}, column ${first.column}:`;
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
