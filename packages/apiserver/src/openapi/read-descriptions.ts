/** What types and their fields mean, by type; `""` is the type itself. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Reads `Type what it is`, and in the lines after it ` field what it is`. Where `=Type.field` is written, it is what that one,
 * further up, is.
 */
export function readDescriptions(source: string): Descriptions {
  const types: Record<string, Record<string, string>> = {};
  let type = "";
  for (const [, isField, name, text] of source.matchAll(/^( ?)(\S+) ?(.*)$/gm)) {
    if (isField === "") types[(type = name!)] = {};
    const field = isField === "" ? "" : name!;
    const [, ofType = "", ofField = ""] = /^=(\w+)\.(\S*)$/.exec(text!) ?? [];
    const meaning = ofType === "" ? text! : (types[ofType]?.[ofField] ?? "");
    if (meaning !== "") types[type]![field] = meaning;
  }
  return types;
}
