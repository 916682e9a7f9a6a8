import { parse, stringify } from "yaml";

/** YAML 1.1, as Kubernetes reads it (`y` is a boolean). Aliases are counted, so that a small text cannot become a big object. */
export function parseYaml(text: string): unknown {
  return parse(text, { logLevel: "error", maxAliasCount: 100, version: "1.1", uniqueKeys: false }) as unknown;
}

/** The complaint about the first key that a map gives twice. */
export function repeatedYamlKey(text: string): string | undefined {
  try {
    parse(text, { logLevel: "error", maxAliasCount: 100, version: "1.1", uniqueKeys: true });
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n", 1)[0];
  }
}

export function formatYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: "1.1", sortMapEntries: true });
}
