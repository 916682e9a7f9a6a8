import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";

import type { DocumentSchema } from "./document-schema.ts";
import type { JsonSchema, SchemaTree } from "./json-schema.ts";
import { type YamlPosition, yamlPosition } from "./yaml-position.ts";

/** Completes field names, and known values. */
export function completion(schema: () => Promise<DocumentSchema>): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const place = yamlPosition(context.state.doc.toString(), context.pos);
    if (place === undefined || (place.typed === "" && !context.explicit && place.at === "key")) return null;
    const known = await schema();
    const options = place.at === "key" ? fieldsAt(place, known) : valuesAt(place, known);
    if (options.length === 0) return null;
    return { from: context.pos - place.typed.length, options, validFor: place.at === "key" ? /^[\w./-]*$/ : /^\S*$/ };
  };
}

function fieldsAt(place: YamlPosition, known: DocumentSchema): Completion[] {
  const root = known.rootOf(place);
  if (root === undefined) return [];
  const required = new Set(known.tree.at(root, place.path).flatMap((schema) => schema.required ?? []));
  const fields = [...known.tree.fields(root, place.path)].filter(([name]) => !place.siblings.has(name));
  // The item of a list of plain values.
  if (fields.length === 0) return valuesAt(place, known);
  return fields.map(([name, schema]) => ({
    label: name,
    type: "property",
    detail: known.tree.typeOf(schema),
    apply: name + behindName(schema, place, known.tree),
    ...(schema.description === undefined ? {} : { info: firstSentence(schema.description) }),
    boost: required.has(name) ? 2 : 0,
  }));
}

/** Returns the text after a field name: a colon, and the indentation of a nested value. */
function behindName(schema: JsonSchema, { indent, isFlow }: YamlPosition, tree: SchemaTree): string {
  if (isFlow) return ": ";
  const deeper = `\n${" ".repeat(indent + 2)}`;
  const type = tree.typeOf(schema);
  if (type.startsWith("list")) return `:${deeper}- `;
  return type === "object" ? `:${deeper}` : ": ";
}

function valuesAt(place: YamlPosition, known: DocumentSchema): Completion[] {
  const root = known.rootOf(place);
  const schemas = root === undefined ? [] : known.tree.at(root, place.path);
  const values = schemas.flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === "boolean" ? [true, false] : []),
  ]);
  const more = known.valuesOf(place.path);
  return [...new Set([...values.map(String), ...more])].map((value) => ({
    label: value,
    type: "enum",
    apply: /^[\w./-]+$/.test(value) && !/^(\d|true$|false$|null$)/i.test(value) ? value : quotedUnless(schemas, value),
  }));
}

function quotedUnless(schemas: readonly JsonSchema[], value: string): string {
  const isText = schemas.every(({ type }) => type === undefined || type === "string");
  return isText && !schemas.some((schema) => (schema.enum ?? []).some((each) => typeof each === "number"))
    ? JSON.stringify(value)
    : value;
}

/** Returns the first sentence of a description, for a list of many fields. */
export function firstSentence(description: string): string {
  const end = /[.:](?:\s|$)/.exec(description.slice(20));
  return end === null ? description : description.slice(0, 21 + end.index);
}
