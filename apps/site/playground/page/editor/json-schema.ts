/** The subset of JSON Schema that editors need, for OpenAPI's and kubewright's schemas. */
export interface JsonSchema {
  readonly description?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** A step of a path into a value: a member's name, or any item of a list. */
export type Step = string | typeof ITEM;
export const ITEM = Symbol("item");

/** Bounds the depth of recursive schemas. */
const MAX_DEPTH = 64;

/** Resolves the schemas at a path: several for alternatives, none where the schema defines nothing. */
export class SchemaTree {
  readonly #definitions: Readonly<Record<string, JsonSchema>>;

  constructor(definitions: Readonly<Record<string, JsonSchema>>) {
    this.#definitions = definitions;
  }

  at(root: JsonSchema, path: readonly Step[]): readonly JsonSchema[] {
    let found = this.#choices(root, 0);
    for (const step of path)
      found = found.flatMap((schema) => {
        const next = stepInto(schema, step);
        return next === undefined ? [] : this.#choices(next, 0);
      });
    return found;
  }

  /** Returns members by name. A description beside a reference takes precedence over that of the referenced type. */
  fields(root: JsonSchema, path: readonly Step[]): ReadonlyMap<string, JsonSchema> {
    const fields = new Map<string, JsonSchema>();
    for (const schema of this.at(root, path))
      for (const [name, field] of Object.entries(schema.properties ?? {}))
        if (!fields.has(name)) fields.set(name, field);
    return fields;
  }

  /** Returns the name of a type: `integer`, `list of object`. */
  typeOf(schema: JsonSchema): string {
    const [first] = this.#choices(schema, 0);
    if (first === undefined) return "";
    if (first.items !== undefined) {
      const item = this.typeOf(first.items);
      return item === "" ? "list" : `list of ${item}`;
    }
    if (first.properties !== undefined || typeof first.additionalProperties === "object") return "object";
    const { type } = first;
    return typeof type === "string" ? type : (type?.join(" or ") ?? (first.enum === undefined ? "" : "string"));
  }

  #choices(schema: JsonSchema, depth: number): readonly JsonSchema[] {
    if (depth > MAX_DEPTH) return [];
    const { $ref, allOf = [], anyOf = [], oneOf = [] } = schema;
    const referred = $ref === undefined ? undefined : this.#definitions[$ref.slice("#/$defs/".length)];
    const inner = [...(referred === undefined ? [] : [referred]), ...allOf, ...anyOf, ...oneOf];
    return inner.length === 0
      ? [schema]
      : [
          ...(schema.properties === undefined && schema.enum === undefined ? [] : [schema]),
          ...inner.flatMap((choice) => this.#choices(choice, depth + 1)),
        ];
  }
}

function stepInto(schema: JsonSchema, step: Step): JsonSchema | undefined {
  if (step === ITEM) return schema.items;
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, step)) return properties[step];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
