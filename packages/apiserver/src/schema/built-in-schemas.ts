import { builtInTypes } from "./built-in-types.js";
import {
  atomicMaps,
  atomicTypes,
  dropsZero,
  keepsEmptyCollection,
  keepsEmptyString,
  keyDefaults,
  listTypes,
  patchMergeKeys,
  presentWhenZero,
  quantityFields,
} from "./field-rules.js";
import { type FieldSchema, type ObjectSchema, type ScalarType, type Schema, anySchema } from "./schema.js";

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

/** Types whose values go from template to template and into objects, and are large. */
const settling: ReadonlySet<string> = new Set(["PodSpec"]);

/** The schemas of the built-in kinds, made when first asked for. One set per server: nothing here outlives it. */
export class BuiltInSchemas {
  readonly #types = new Map<string, ObjectSchema>();

  /** The schema of a type by its short name, or of a kind by its group: the two kinds of Event differ. */
  ofKind(group: string, kind: string): ObjectSchema | undefined {
    const name = group === "events.k8s.io" && kind === "Event" ? "EventsV1Event" : kind;
    return Object.hasOwn(builtInTypes, name) ? this.#object(name) : undefined;
  }

  ofType(name: string): ObjectSchema {
    return this.#object(name);
  }

  #object(name: string): ObjectSchema {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const fields = new Map<string, FieldSchema>();
    const alwaysPresent: FieldSchema[] = [];
    const schema: ObjectSchema = {
      type: "object",
      name: name === "EventsV1Event" ? "Event" : name,
      fields,
      alwaysPresent,
      atomic: atomicTypes.has(name),
      next: undefined,
      ...(settling.has(name) ? { settled: new WeakSet() } : {}),
    };
    // Before its fields: types may contain themselves.
    this.#types.set(name, schema);
    for (const text of (builtInTypes[name] ?? "").split(",")) {
      if (text === "") continue;
      const field = this.#field(name, text);
      fields.set(field.name, field);
      if (field.zero !== undefined) alwaysPresent.push(field);
    }
    return schema;
  }

  #field(type: string, text: string): FieldSchema {
    const colon = text.indexOf(":");
    const required = text[colon - 1] === "!";
    const name = text.slice(0, required ? colon - 1 : colon);
    const path = `${type}.${name}`;
    const token = text.slice(colon + 1);
    return new BuiltInField(
      name,
      required,
      this.#dropsZero(path, token, required),
      Object.hasOwn(presentWhenZero, path) ? presentWhenZero[path] : undefined,
      () => this.#parse(path, token),
    );
  }

  #dropsZero(path: string, token: string, required: boolean): boolean {
    if (token.startsWith("[]") || token.startsWith("{}")) return !keepsEmptyCollection.has(path);
    if (token === "string" || token === "bytes")
      return !required && !keepsEmptyString.has(path) && !Object.hasOwn(presentWhenZero, path);
    return dropsZero.has(path);
  }

  #parse(path: string, token: string): Schema {
    if (token.startsWith("[]")) {
      const item = this.#parse("", token.slice(2));
      const merge = Object.hasOwn(patchMergeKeys, path) ? patchMergeKeys[path] : undefined;
      const list = Object.hasOwn(listTypes, path) ? listTypes[path] : undefined;
      const defaults = Object.hasOwn(keyDefaults, path) ? keyDefaults[path] : undefined;
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
      const value = this.#parse(quantityFields.has(path) ? path : "", token.slice(2));
      return { type: "map", value, atomic: atomicMaps.has(path) };
    }
    if (token === "any") return anySchema;
    if (quantityFields.has(path)) return { type: "scalar", scalar: "quantity" };
    if (SCALARS.has(token)) return { type: "scalar", scalar: token as ScalarType };
    return this.#object(token);
  }
}

/** One field; its schema is made when first asked for, as types may contain themselves. */
class BuiltInField implements FieldSchema {
  next: FieldSchema | undefined = undefined;
  readonly #makeSchema: () => Schema;
  #schema: Schema | undefined;

  constructor(
    readonly name: string,
    readonly required: boolean,
    readonly dropsZero: boolean,
    readonly zero: unknown,
    makeSchema: () => Schema,
  ) {
    this.#makeSchema = makeSchema;
  }

  get schema(): Schema {
    return (this.#schema ??= this.#makeSchema());
  }
}
