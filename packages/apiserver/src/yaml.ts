import { stringify } from "yaml";

import { duplicateFields } from "./duplicate-fields.js";
import { MAX_NESTING, TOO_DEEP, isNestedDeeper } from "./nesting.js";
import { YamlDocument } from "./yaml/yaml-document.js";
import { YamlError } from "./yaml/yaml-error.js";

/**
 * Deeper values are printed as JSON, which is valid YAML: in block style, the indentation of every line grows with its
 * depth.
 */
const BLOCK_LEVELS = 100;

/**
 * Maximum number of YAML tokens in a body that is not JSON: some 30,000 lines. Parsing takes microseconds for each, and
 * other requests wait. Deliberate: upstream only limits the bytes.
 */
const MAX_TOKENS = 300_000;

/**
 * Parses the first document of a YAML text as Kubernetes does.
 *
 * @throws Error with a message `line 3: problem` when the text is invalid or nested too deeply, or too long.
 */
export function parseYaml(text: string): unknown {
  const json = parseJson(text);
  if (json !== undefined) {
    if (isNestedDeeper(json)) throw new Error(`line 1: ${TOO_DEEP} of ${MAX_NESTING}`);
    return json;
  }
  try {
    // The round trip copies the strings: substrings would keep the whole text in memory.
    return JSON.parse(JSON.stringify(new YamlDocument(text, MAX_TOKENS).value())) as unknown;
  } catch (error) {
    throw error instanceof YamlError ? new Error(`line ${error.line}: ${error.message}`, { cause: error }) : error;
  }
}

/** Returns go-yaml's error for the first repeated key of a map, if any. */
export function repeatedYamlKey(text: string): string | undefined {
  if (parseJson(text) !== undefined && duplicateFields(text).length === 0) return undefined;
  const [first] = new YamlDocument(text, MAX_TOKENS).repeatedKeys();
  return first === undefined ? undefined : `Map keys must be unique at line ${first.line}, column ${first.column}:`;
}

/** Most YAML from clients is JSON, and `JSON.parse` is many times faster. */
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

/** Formats a value as an element of a list: `- kind: Pod`, with the following lines indented by two. */
export function formatYamlElement(value: unknown): string {
  return isNestedDeeper(value, BLOCK_LEVELS) ? `- ${JSON.stringify(value)}\n` : block([value]);
}

function block(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: "1.1", sortMapEntries: true });
}
