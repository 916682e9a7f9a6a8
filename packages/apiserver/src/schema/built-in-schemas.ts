import { fieldNumbers } from "../protobuf/field-numbers.js";
import { builtInTypes } from "./built-in-types.js";
import * as fieldRules from "./field-rules.js";
import { type FieldSchema, type ObjectSchema, type ScalarType, type Schema, anySchema } from "./schema.js";
import { ValidatedValues } from "./validated-values.js";
import type { FieldRules, TypeDeclarations } from "./type-declarations.js";

const SCALARS: ReadonlySet<string> = new Set([
  "string",
  "int32",
  "int64",
  "double",
  "boolean",
  "time",
  "microtime",
  "bytes",
  "intOrString",
]);

/** Large types whose values pass unchanged from template to template and into objects. */
const TYPES_WITH_VALIDATED_VALUES: ReadonlySet<string> = new Set(["PodSpec"]);

const commonTypes: TypeDeclarations = {
  fields: builtInTypes,
  rules: fieldRules,
  fieldNumbers,
  kinds: { "events.k8s.io/v1/Event": "EventsV1Event" },
};
const NO_RULES: FieldRules = {};

/** The schemas of the built-in kinds, created on first use. One instance per server: no module state. */
export class BuiltInSchemas {
  readonly #types = new Map<string, ObjectSchema>();
  readonly #declarations = new Map<string, TypeDeclarations>();
  readonly #fieldNumbers = new Map<string, string>();
  readonly #kinds = new Map<string, string>();

  /** @param declared - Declarations of kinds, in addition to the common types. */
  constructor(declared: Iterable<TypeDeclarations> = []) {
    for (const declaration of [commonTypes, ...declared]) {
      const { fields, fieldNumbers: numbers = {}, kinds = {} } = declaration;
      for (const type in fields) if (!this.#declarations.has(type)) this.#declarations.set(type, declaration);
      for (const type in numbers) if (!this.#fieldNumbers.has(type)) this.#fieldNumbers.set(type, numbers[type]!);
      for (const kind in kinds) if (!this.#kinds.has(kind)) this.#kinds.set(kind, kinds[kind]!);
    }
  }

  /** @param apiVersion - Needed because two kinds may have the same name, such as the two Events. */
  ofKind(apiVersion: string, kind: string): ObjectSchema | undefined {
    const name = this.#typeOfKind(apiVersion, kind);
    return this.#declarations.has(name) ? this.#object(name) : undefined;
  }

  /** Returns the protobuf field numbers of a kind; `undefined` when none are declared. */
  fieldNumbersOfKind(apiVersion: string, kind: string): string | undefined {
    return this.fieldNumbers(this.#typeOfKind(apiVersion, kind));
  }

  #typeOfKind(apiVersion: string, kind: string): string {
    return this.#kinds.get(`${apiVersion}/${kind}`) ?? kind;
  }

  /** Returns the protobuf field numbers of a type, including Go's inlined structs, which have no schema. */
  fieldNumbers(type: string): string | undefined {
    return this.#fieldNumbers.get(type);
  }

  ofType(name: string): ObjectSchema {
    return this.#object(name);
  }

  #object(name: string): ObjectSchema {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const declaration = this.#declarations.get(name);
    const rules = declaration?.rules ?? NO_RULES;
    const fields = new Map<string, FieldSchema>();
    const alwaysPresent: FieldSchema[] = [];
    const schema: ObjectSchema = {
      type: "object",
      name: name === "EventsV1Event" ? "Event" : name,
      fields,
      alwaysPresent,
      atomic: rules.atomicTypes?.has(name) === true,
      next: undefined,
      ...(TYPES_WITH_VALIDATED_VALUES.has(name) ? { validatedValues: new ValidatedValues() } : {}),
    };
    // Stored before its fields, because types may contain themselves.
    this.#types.set(name, schema);
    for (const text of (declaration?.fields[name] ?? "").split(",")) {
      if (text === "") continue;
      const field = this.#field(name, text, rules);
      fields.set(field.name, field);
      if (field.zero !== undefined) alwaysPresent.push(field);
    }
    return schema;
  }

  #field(type: string, text: string, rules: FieldRules): FieldSchema {
    const colon = text.indexOf(":");
    const required = text[colon - 1] === "!";
    const name = text.slice(0, required ? colon - 1 : colon);
    const path = `${type}.${name}`;
    const token = text.slice(colon + 1);
    return new BuiltInField(
      {
        name,
        required,
        dropsZero: dropsZero(path, token, required, rules),
        zero: ruleAt(rules.presentWhenZero, path),
        replaces: rules.replacedObjects?.has(path) === true,
      },
      () => this.#parse(path, token, rules),
    );
  }

  #parse(path: string, token: string, rules: FieldRules): Schema {
    if (token.startsWith("[]")) {
      const item = this.#parse("", token.slice(2), rules);
      const merge = ruleAt(rules.patchMergeKeys, path);
      const list = ruleAt(rules.listTypes, path);
      const defaults = ruleAt(rules.keyDefaults, path);
      return {
        type: "list",
        item,
        ...(merge === undefined
          ? {}
          : {
              merge: { ...(merge === "" ? {} : { mergeKey: merge.replace("!", "") }), retainKeys: merge.endsWith("!") },
            }),
        listType: list === undefined ? "atomic" : list === "set" ? "set" : "map",
        keys: list === undefined || list === "set" ? [] : list.split(","),
        ...(defaults === undefined ? {} : { keyDefaults: defaults }),
      };
    }
    if (token.startsWith("{}")) {
      const value = this.#parse(rules.quantityFields?.has(path) === true ? path : "", token.slice(2), rules);
      return { type: "map", value, atomic: rules.atomicMaps?.has(path) === true };
    }
    if (token === "any") return anySchema;
    if (rules.quantityFields?.has(path) === true) return { type: "scalar", scalar: "quantity" };
    if (SCALARS.has(token)) return { type: "scalar", scalar: token as ScalarType };
    return this.#object(token);
  }
}

function ruleAt<T>(rules: Readonly<Record<string, T>> | undefined, path: string): T | undefined {
  return rules !== undefined && Object.hasOwn(rules, path) ? rules[path] : undefined;
}

function dropsZero(path: string, token: string, required: boolean, rules: FieldRules): boolean {
  if (token.startsWith("[]") || token.startsWith("{}")) return rules.keepsEmptyCollection?.has(path) !== true;
  if (token === "string" || token === "bytes")
    return !required && rules.keepsEmptyString?.has(path) !== true && ruleAt(rules.presentWhenZero, path) === undefined;
  return rules.dropsZero?.has(path) === true;
}

/** A field. Its schema is created on first use, because types may contain themselves. */
class BuiltInField implements FieldSchema {
  next: FieldSchema | undefined = undefined;
  readonly name: string;
  readonly required: boolean;
  readonly dropsZero: boolean;
  readonly zero: unknown;
  readonly replaces: boolean;
  readonly #makeSchema: () => Schema;
  #schema: Schema | undefined;

  constructor(field: Omit<FieldSchema, "schema" | "next">, makeSchema: () => Schema) {
    this.name = field.name;
    this.required = field.required;
    this.dropsZero = field.dropsZero;
    this.zero = field.zero;
    this.replaces = field.replaces ?? false;
    this.#makeSchema = makeSchema;
  }

  get schema(): Schema {
    return (this.#schema ??= this.#makeSchema());
  }
}
