import { LineCounter, isMap, isScalar, parse, parseDocument, stringify, visit } from "yaml";

import { duplicateFields } from "./duplicate-fields.js";

/** Reading takes time in proportion to the text only without the library's own look for repeated keys. */
const READING = { logLevel: "error", version: "1.1", uniqueKeys: false } as const;

/** YAML 1.1, as Kubernetes reads it (`y` is a boolean). Aliases are counted, so that a small text cannot become a big object. */
export function parseYaml(text: string): unknown {
  const json = parseJson(text);
  return json === undefined ? (parse(text, { ...READING, maxAliasCount: 100 }) as unknown) : json;
}

/** The complaint about the first key that a map gives twice. */
export function repeatedYamlKey(text: string): string | undefined {
  if (parseJson(text) !== undefined && duplicateFields(text).length === 0) return undefined;
  const lines = new LineCounter();
  let complaint: string | undefined;
  visit(parseDocument(text, { ...READING, lineCounter: lines }), (_key, node) => {
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

export function formatYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: "1.1", sortMapEntries: true });
}
