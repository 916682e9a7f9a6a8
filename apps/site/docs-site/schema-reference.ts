/** Pages about file formats, generated from their JSON Schemas. */
import { escaped } from "./commands-reference.ts";

interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Row {
  readonly field: string;
  readonly type: string;
  readonly is: string;
}

/** @param name - Name of the format, such as `scenario`. */
export function schemaPage(name: string, text: string): string {
  const schema = JSON.parse(text) as Schema;
  const parts = [
    `# ${name}.schema.json`,
    escaped(schema.description ?? schema.title ?? ""),
    `Made of [the schema](../schemas/${name}.schema.json){target="_self"}, which \`kubewright\` ships as \`kubewright/${name}.schema.json\`.`,
    table(rowsOf(schema)),
  ];
  for (const [key, definition] of Object.entries(schema.$defs ?? {})) {
    const rows = rowsOf(definition);
    parts.push(`## ${key}`, escaped(definition.description ?? definition.title ?? ""));
    parts.push(
      rows.length > 0
        ? table(rows)
        : `${typeOf(definition)}${definition.pattern === undefined ? "" : `, as <code v-pre>${escaped(definition.pattern)}</code>`}`,
    );
  }
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return `| Field | Type | Is |\n| --- | --- | --- |\n${rows
    .map(({ field, type, is }) => `| ${fieldCell(field)} | ${cell(type)} | ${cell(is)} |`)
    .join("\n")}`;
}

/** Allows line breaks after the dots of a long name, which leaves space for the description. */
function fieldCell(field: string): string {
  return `<code v-pre>${escaped(field).replaceAll(".", ".<wbr>")}</code>`;
}

/** Returns every field at every depth, each once. */
function rowsOf(schema: Schema, prefix = "", rows = new Map<string, Row>()): Row[] {
  for (const part of [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) {
    const required = new Set(part.required);
    for (const [key, property] of Object.entries(part.properties ?? {})) {
      const field = prefix === "" ? key : `${prefix}.${key}`;
      if (!rows.has(field) || rows.get(field)!.is === "")
        rows.set(field, {
          field,
          type: typeOf(property),
          is: [required.has(key) ? "Required." : "", escaped(property.description ?? property.title ?? "")]
            .filter((text) => text !== "")
            .join(" "),
        });
      rowsOf(property, field, rows);
    }
    if (typeof part.items === "object") rowsOf(part.items, `${prefix}[]`, rows);
    if (typeof part.additionalProperties === "object") rowsOf(part.additionalProperties, `${prefix}.*`, rows);
    if (part !== schema) rowsOf(part, prefix, rows);
  }
  return [...rows.values()];
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives !== undefined && schema.type === undefined)
    return [...new Set(alternatives.map(typeOf))].filter((type) => type !== "").join(" or ");
  if (schema.type === "array")
    return `list of ${typeof schema.items === "object" ? typeOf(schema.items) || "any" : "any"}`;
  const type = schema.type === undefined ? "" : [schema.type].flat().join(" or ");
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  return minimum === undefined ? type : `${type}, ${minimum} or more`;
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}
