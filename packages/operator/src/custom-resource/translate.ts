import { textRules } from "./formats.js";
import { disagree, splitMapValueRules } from "./map-value-rules.js";
import { type Rules, alternatives, mergeRules, isEmpty } from "./rules.js";
import { EACH, type Problems, type SchemaPath } from "./schema-problem.js";
import { ANYTHING, type Shape, type ShapeType, join, meet } from "./shape.js";

/** JSON Schema, draft 2020-12 or 07. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema split into its structure and its other restrictions. */
export interface TranslatedSchema {
  readonly shape: Shape;
  readonly rules: Rules;
}

type JsonType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

const TYPES: readonly JsonType[] = ["object", "array", "string", "integer", "number", "boolean", "null"];
const UNTYPED: TranslatedSchema = { shape: ANYTHING, rules: {} };
const ONLY_NULL: TranslatedSchema = { shape: { nullable: true, onlyNull: true, extensions: {} }, rules: {} };

/** Unsupported keywords that restrict values, each with an alternative. */
const WITHOUT_COUNTERPART: Readonly<Record<string, string>> = {
  prefixItems: "is a tuple: use an object with a name for each part, or a list of one type",
  additionalItems: "is a tuple: use an object with a name for each part, or a list of one type",
  patternProperties: "gives types to names that match a pattern: use a map with values of one type",
  dependentRequired:
    'requires members depending on others: use a union, or a rule in .meta({ "x-kubernetes-validations": [{ rule }] })',
  dependentSchemas: "depends on which members there are: use a union",
  dependencies: "depends on which members there are: use a union",
  if: 'is conditional: use a union, or a rule in .meta({ "x-kubernetes-validations": [{ rule }] })',
  contains:
    'says what a list contains: use a rule in .meta({ "x-kubernetes-validations": [{ rule: "self.exists(…)" }] })',
  unevaluatedItems: "is a tuple: use an object with a name for each part, or a list of one type",
  unevaluatedProperties: "restricts what is left of an object: name its members",
  $dynamicRef: "refers to a schema that is not known before there are values: write it where it is used",
};

/**
 * Splits a JSON Schema into the two halves of a structural schema.
 *
 * @param problems - Receives everything that cannot be expressed, with its path. Nothing is dropped silently.
 */
export function translate(root: JsonSchema, path: SchemaPath, problems: Problems): TranslatedSchema {
  return new Translation(root, problems).translate(root, path);
}

class Translation {
  readonly #root: JsonSchema;
  readonly #problems: Problems;
  /** References on the current path. */
  readonly #following = new Set(["#"]);

  constructor(root: JsonSchema, problems: Problems) {
    this.#root = root;
    this.#problems = problems;
  }

  translate(schema: unknown, path: SchemaPath): TranslatedSchema {
    if (schema === true) return UNTYPED;
    if (!isSchema(schema) || isNever(schema)) {
      this.#problems.add(path, "allows nothing: leave it out");
      return UNTYPED;
    }
    for (const [keyword, text] of Object.entries(WITHOUT_COUNTERPART))
      if (schema[keyword] !== undefined) this.#problems.add(path, text);
    if (schema["x-kubernetes-preserve-unknown-fields"] === true && schema["type"] !== "object")
      return {
        shape: { ...annotations(schema), nullable: admitsNull(schema), extensions: extensions(schema) },
        rules: {},
      };
    let part = this.#typed(schema, path);
    const also = (other: TranslatedSchema): void => {
      part = { shape: meet(part.shape, other.shape, path, this.#problems), rules: mergeRules(part.rules, other.rules) };
    };
    if (typeof schema["$ref"] === "string") also(this.#referenced(schema["$ref"], path));
    for (const each of list(schema["allOf"])) also(this.translate(each, path));
    for (const keyword of ["anyOf", "oneOf"] as const)
      if (schema[keyword] !== undefined)
        also(
          this.#union(
            keyword,
            list(schema[keyword]).map((each) => this.translate(each, path)),
            path,
          ),
        );
    if (schema["not"] !== undefined) also(this.#negated(schema["not"], path));
    const shape = {
      ...part.shape,
      ...annotations(schema),
      extensions: { ...part.shape.extensions, ...extensions(schema) },
    };
    return this.#withIntOrString(schema, { shape, rules: part.rules }, path);
  }

  /**
   * Sets the type int-or-string if the schema has the extension. Libraries express the union of text and number
   * differently.
   */
  #withIntOrString(schema: JsonSchema, part: TranslatedSchema, path: SchemaPath): TranslatedSchema {
    if (schema["x-kubernetes-int-or-string"] !== true || part.shape.type === "int-or-string") return part;
    if (part.shape.type !== undefined)
      this.#problems.add(
        path,
        `is ${part.shape.type}, and cannot be an int-or-string: use z.union([z.int(), z.string()])`,
      );
    return { ...part, shape: { ...part.shape, type: "int-or-string" } };
  }

  #referenced(reference: string, path: SchemaPath): TranslatedSchema {
    if (this.#following.has(reference)) {
      this.#problems.add(
        path,
        'contains itself, and a CustomResourceDefinition cannot be recursive: keep any value with .meta({ "x-kubernetes-preserve-unknown-fields": true })',
      );
      return UNTYPED;
    }
    const target = lookUp(this.#root, reference);
    if (target === undefined) {
      this.#problems.add(path, `refers to ${JSON.stringify(reference)}, which does not exist`);
      return UNTYPED;
    }
    this.#following.add(reference);
    const part = this.translate(target, path);
    this.#following.delete(reference);
    return part;
  }

  /** Translates the schema itself, without the schemas that it combines. */
  #typed(schema: JsonSchema, path: SchemaPath): TranslatedSchema {
    const values = schema["const"] !== undefined ? [schema["const"]] : (schema["enum"] as unknown[] | undefined);
    const types = this.#typesOf(schema, values, path);
    if (types === undefined) {
      const rules = mergeRules(mergeRules(this.#textRules(schema, path), numberRules(schema)), sizeRules(schema));
      return { shape: ANYTHING, rules };
    }
    const parts = types.flatMap((type) => {
      const allowed = values?.filter((value) => isOfType(value, type));
      if (allowed?.length === 0) return [];
      if (type === "null") return [ONLY_NULL];
      const part = this.#ofType(type, schema, path);
      return [
        { shape: part.shape, rules: allowed === undefined ? part.rules : mergeRules({ enum: allowed }, part.rules) },
      ];
    });
    return this.#union("anyOf", parts, path);
  }

  #typesOf(schema: JsonSchema, values: readonly unknown[] | undefined, path: SchemaPath): JsonType[] | undefined {
    const { type } = schema;
    const given = type === undefined ? undefined : Array.isArray(type) ? (type as unknown[]) : [type];
    if (given !== undefined) {
      const unknown = given.filter((each) => !TYPES.includes(each as JsonType));
      if (unknown.length > 0)
        this.#problems.add(path, `has the type ${JSON.stringify(unknown[0])}, which JSON has not`);
      const known = (given as JsonType[]).map((each) =>
        // An enum of integers.
        each === "number" && values?.every((value) => typeof value !== "number" || Number.isInteger(value)) === true
          ? "integer"
          : each,
      );
      return schema["nullable"] === true && !known.includes("null") ? [...known, "null"] : known;
    }
    if (values !== undefined) return [...new Set(values.map(typeOf))];
    if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) return ["object"];
    return schema["items"] === undefined ? undefined : ["array"];
  }

  #ofType(type: Exclude<JsonType, "null">, schema: JsonSchema, path: SchemaPath): TranslatedSchema {
    const shape = { type, nullable: false, extensions: {} } as const;
    switch (type) {
      case "object":
        return this.#object(schema, path);
      case "array":
        return this.#array(schema, path);
      case "string":
        return { shape, rules: this.#textRules(schema, path) };
      case "boolean":
        return { shape, rules: {} };
      default:
        return { shape, rules: numberRules(schema) };
    }
  }

  #textRules(schema: JsonSchema, path: SchemaPath): Rules {
    const { format, pattern } = schema as { format?: string; pattern?: string };
    const rules = textRules({
      ...(format === undefined || isNumberFormat(format) ? {} : { format }),
      ...(pattern === undefined ? {} : { pattern }),
    });
    if (typeof rules === "string") this.#problems.add(path, rules);
    return mergeRules(pick(schema, ["minLength", "maxLength"]), typeof rules === "string" ? {} : rules);
  }

  #array(schema: JsonSchema, path: SchemaPath): TranslatedSchema {
    const { items } = schema;
    if (Array.isArray(items)) this.#problems.add(path, WITHOUT_COUNTERPART["prefixItems"]!);
    const item = this.translate(isSchema(items) ? items : true, [...path, EACH]);
    const rules = isEmpty(item.rules) ? {} : { items: item.rules };
    const isSet = schema["uniqueItems"] === true && schema["x-kubernetes-list-type"] === undefined;
    if (isSet && ["object", "array", undefined].includes(item.shape.type))
      this.#problems.add(
        path,
        'has unique items that are not scalars: list them by keys with .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": […] })',
      );
    const shape: Shape = {
      type: "array",
      nullable: false,
      items: item.shape,
      extensions: isSet ? { "x-kubernetes-list-type": "set" } : {},
    };
    return { shape, rules: mergeRules(pick(schema, ["minItems", "maxItems"]), rules) };
  }

  #object(schema: JsonSchema, path: SchemaPath): TranslatedSchema {
    const given = isSchema(schema["properties"]) ? schema["properties"] : {};
    const required = (schema["required"] as readonly string[] | undefined) ?? [];
    const names = this.#namesOfKeys(schema, path);
    const others = schema["additionalProperties"];
    const isOpenMap = isSchema(others) && Object.keys(others).length > 0 && names === undefined;
    if (isOpenMap && Object.keys(given).length > 0)
      this.#problems.add(
        path,
        'has named members and others of a type of their own: put those into a map of their own, or keep all with .meta({ "x-kubernetes-preserve-unknown-fields": true })',
      );
    const properties = new Map<string, Shape>();
    const memberRules: Record<string, Rules> = {};
    const absent: string[] = [];
    const add = (name: string, member: unknown): void => {
      if (isNever(member) && !required.includes(name)) {
        absent.push(name);
        return;
      }
      const part = this.translate(member, [...path, name]);
      properties.set(name, part.shape);
      if (!isEmpty(part.rules)) memberRules[name] = part.rules;
    };
    for (const [name, member] of Object.entries(given)) add(name, member);
    for (const name of names ?? []) if (!properties.has(name)) add(name, others ?? true);
    const values = isOpenMap ? this.translate(others, [...path, EACH]) : undefined;
    const keepsAll = others === true || (isSchema(others) && Object.keys(others).length === 0 && names === undefined);
    const shape: Shape = {
      type: "object",
      nullable: false,
      ...(values === undefined ? { properties } : { values: values.shape }),
      absent: others === false ? "others" : absent,
      keepsUnknown: keepsAll || schema["x-kubernetes-preserve-unknown-fields"] === true,
      extensions: {},
    };
    return {
      shape,
      rules: {
        ...sizeRules(schema),
        ...(required.length > 0 ? { required: [...required] } : {}),
        ...(Object.keys(memberRules).length > 0 ? { properties: memberRules } : {}),
        ...(values === undefined || isEmpty(values.rules) ? {} : { values: values.rules }),
      },
    };
  }

  /** The names that `propertyNames` lists, if any. */
  #namesOfKeys({ propertyNames }: JsonSchema, path: SchemaPath): readonly string[] | undefined {
    if (propertyNames === undefined || propertyNames === true) return undefined;
    if (isSchema(propertyNames)) {
      const { type, ...more } = propertyNames;
      const listed = more["const"] === undefined ? more["enum"] : [more["const"]];
      if (Array.isArray(listed)) return listed.map(String);
      if ((type === undefined || type === "string") && Object.keys(more).every((key) => !RESTRICTS_TEXT.has(key)))
        return undefined;
    }
    this.#problems.add(
      path,
      'restricts the names of its members, which takes a rule: z.record(z.string(), …).meta({ "x-kubernetes-validations": [{ rule: "self.all(name, …)" }] })',
    );
    return undefined;
  }

  /** Combines alternatives. */
  #union(keyword: "anyOf" | "oneOf", all: readonly TranslatedSchema[], path: SchemaPath): TranslatedSchema {
    const parts = all.filter(({ shape }) => shape.onlyNull !== true);
    const nullable = parts.length < all.length;
    const [first, ...rest] = parts;
    if (first === undefined) return nullable ? ONLY_NULL : UNTYPED;
    if (rest.length === 0) return nullable ? { ...first, shape: { ...first.shape, nullable } } : first;
    for (const { shape } of parts)
      if (shape.extensions["x-kubernetes-validations"] !== undefined) {
        this.#problems.add(
          path,
          "has x-kubernetes-validations in one alternative, which would hold for all: set them on the union",
        );
        break;
      }
    let shape = first.shape;
    for (const other of rest) shape = join(shape, other.shape, path, this.#problems);
    if (nullable) shape = { ...shape, nullable };
    if (shape.type === undefined) return { shape, rules: {} };
    if (shape.type === "int-or-string") return { shape, rules: this.#eitherType(parts, path) };
    const split = parts.map((part) => splitMapValueRules(mergeRules(part.rules, restOfShape(part.shape, shape))));
    let common: Rules = {};
    for (const { ofValues } of split) {
      if (parts.some((other, index) => disagree(ofValues, other.shape, split[index]!.ofValues)))
        this.#problems.add(path, "has a map with other values in each alternative: give each a member of its own");
      common = mergeRules(common, ofValues);
    }
    const rules = split.map(({ others }) => others);
    return { shape, rules: mergeRules(mergeRules(common, listedInCommon(rules)), alternatives(keyword, rules)) };
  }

  /** Rules of numbers do not restrict strings, and vice versa: all apply together, unless they list values. */
  #eitherType(parts: readonly TranslatedSchema[], path: SchemaPath): Rules {
    const ofType = (type: ShapeType): TranslatedSchema[] => parts.filter(({ shape }) => shape.type === type);
    const groups = (["integer", "string", "int-or-string"] as const)
      .map((type) => ofType(type).map(({ rules }) => rules))
      .filter((rules) => rules.length > 0)
      .map((rules) => alternatives("anyOf", rules));
    const isListed = ({ enum: values }: Rules): boolean => values !== undefined;
    if (!groups.some((rules) => isListed(rules) || rules.anyOf !== undefined)) {
      let rules: Rules = {};
      for (const group of groups) rules = mergeRules(rules, group);
      return rules;
    }
    if (groups.every((rules) => isListed(rules) && Object.keys(rules).length === 1))
      return { enum: groups.flatMap((rules) => rules.enum ?? []) };
    this.#problems.add(path, "lists values of one type and takes any of another: list all, or none");
    return {};
  }

  #negated(schema: unknown, path: SchemaPath): TranslatedSchema {
    const known = isSchema(schema) && Object.keys(schema).every((key) => NEGATABLE.has(key));
    if (known) {
      const { const: value, ...rules } = schema as { const?: unknown } & Rules;
      return { shape: ANYTHING, rules: { not: value === undefined ? rules : { ...rules, enum: [value] } } };
    }
    this.#problems.add(
      path,
      'is all but something: say what it is, or use a rule in .meta({ "x-kubernetes-validations": [{ rule }] })',
    );
    return UNTYPED;
  }
}

const NEGATABLE: ReadonlySet<string> = new Set(["const", "enum", "required"]);
const RESTRICTS_TEXT: ReadonlySet<string> = new Set([
  "pattern",
  "format",
  "minLength",
  "maxLength",
  "not",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
]);

/**
 * Enums of fields that every alternative restricts, such as the discriminator. They are emitted before the
 * alternatives, for clearer error messages.
 */
function listedInCommon([first, ...rest]: readonly Rules[]): Rules {
  const properties: Record<string, Rules> = {};
  for (const [name, { enum: values }] of Object.entries(first?.properties ?? {})) {
    const others = rest.map((rules) => rules.properties?.[name]?.enum);
    if (values !== undefined && others.every((other) => other !== undefined))
      properties[name] = { enum: [...new Set([...values, ...others.flat()])] };
  }
  return Object.keys(properties).length === 0 ? {} : { properties };
}

/** Rules of an alternative that the joined shape lacks: fields that only others have, and integers among numbers. */
function restOfShape(part: Shape, joined: Shape): Rules {
  if (part.type === "integer" && joined.type === "number") return { multipleOf: 1 };
  const names = [...(joined.properties?.keys() ?? [])];
  const absent = names.filter((name) =>
    part.absent === "others" ? part.properties?.has(name) !== true : part.absent?.includes(name) === true,
  );
  const rules = absent.map((name): Rules => ({ required: [name] }));
  if (rules.length === 0) return {};
  return { not: rules.length === 1 ? rules[0]! : { anyOf: rules } };
}

function numberRules(schema: JsonSchema): Rules {
  const { format } = schema;
  // The bounds of integers that JavaScript can represent, which libraries add by themselves, restrict no other client.
  const { minimum, maximum, ...others } = pick(schema, [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
  ]);
  return {
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...others,
    ...(typeof format === "string" && isNumberFormat(format) ? { format } : {}),
  };
}

function isNumberFormat(format: string): boolean {
  return ["int32", "int64", "float", "double"].includes(format);
}

function sizeRules(schema: JsonSchema): Rules {
  return pick(schema, ["minProperties", "maxProperties"]);
}

function pick(schema: JsonSchema, keys: readonly (keyof Rules)[]): Rules {
  return Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
}

function annotations(schema: JsonSchema): Partial<Shape> {
  const { title, description, default: value } = schema;
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(value === undefined ? {} : { default: { value } }),
  };
}

const IN_SHAPES: ReadonlySet<string> = new Set(["x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"]);

function extensions(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => key.startsWith("x-kubernetes-") && !IN_SHAPES.has(key)),
  );
}

function admitsNull(schema: JsonSchema): boolean {
  const { type } = schema;
  if (type !== undefined) return type === "null" || (Array.isArray(type) && type.includes("null"));
  const parts = [...list(schema["anyOf"]), ...list(schema["oneOf"])];
  return parts.length === 0 || parts.some((part) => isSchema(part) && admitsNull(part));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNever(value: unknown): boolean {
  return value === false || (isSchema(value) && isSchema(value["not"]) && Object.keys(value["not"]).length === 0);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as JsonType;
}

function isOfType(value: unknown, type: JsonType): boolean {
  const actual = typeOf(value);
  return actual === type || (type === "number" && actual === "integer");
}

/** Resolves a JSON pointer in a URI fragment. */
function lookUp(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const step of decodeURIComponent(reference.slice(1)).split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isSchema(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
