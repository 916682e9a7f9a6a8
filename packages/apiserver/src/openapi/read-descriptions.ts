/**
 * Descriptions of types and fields, by type and field name; the field name `""` is the type itself. Fields of the type
 * `*` describe the fields of that name in all types that do not mention it themselves. An empty description: none.
 */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Parses lines of `Type description`, each followed by lines of ` field description`. A description `=Type.field`
 * refers to an earlier one.
 */
export function readDescriptions(source: string): Descriptions {
  const types: Record<string, Record<string, string>> = {};
  let type = "";
  for (const [, isField, name, text] of source.matchAll(/^( ?)(\S+) ?(.*)$/gm)) {
    if (isField === "") types[(type = name!)] = {};
    const field = isField === "" ? "" : name!;
    const [, ofType = "", ofField = ""] = /^=([\w*]+)\.(\S*)$/.exec(text!) ?? [];
    types[type]![field] = ofType === "" ? text! : (types[ofType]?.[ofField] ?? "");
  }
  return types;
}
