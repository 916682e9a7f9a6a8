import { commonTypes } from "./built-in-types.js";
import {
  type FieldSchema,
  type ListSchema,
  type ObjectSchema,
  type ScalarType,
  type Schema,
  anySchema,
} from "./schema.js";
import type { TypeDeclarations } from "./type-declarations.js";
import { ValidatedValues } from "./validated-values.js";

/** The scalar types with their zero values. */
const SCALARS: Readonly<Record<ScalarType, unknown>> = {
  string: "",
  int32: 0,
  int64: 0,
  double: 0,
  boolean: false,
  time: null,
  microtime: null,
  bytes: null,
  intOrString: 0,
  quantity: "0",
};
/** Scalar types whose zero value is dropped by default. */
const TEXTS: ReadonlySet<string> = new Set(["string", "bytes", "quantity"]);

/** Large types whose values pass unchanged from template to template and into objects. */
const TYPES_WITH_VALIDATED_VALUES: ReadonlySet<string> = new Set(["PodSpec"]);

/** The schemas of the built-in kinds, created on first use. One instance per server: no module state. */
export class BuiltInSchemas {
  readonly #types = new Map<string, ObjectSchema>();
  readonly #declarations = new Map<string, TypeDeclarations>();
  readonly #numberedFields = new Map<string, readonly string[]>();
  readonly #kinds = new Map<string, string>();

  /** @param declared - Declarations of kinds, in addition to the common types. */
  constructor(declared: Iterable<TypeDeclarations> = []) {
    for (const declaration of [commonTypes, ...declared]) {
      const { fields, kinds = {} } = declaration;
      for (const type in fields) if (!this.#declarations.has(type)) this.#declarations.set(type, declaration);
      for (const kind in kinds) if (!this.#kinds.has(kind)) this.#kinds.set(kind, kinds[kind]!);
    }
  }

  /** @param apiVersion - Needed because two kinds may have the same name, such as the two Events. */
  ofKind(apiVersion: string, kind: string): ObjectSchema | undefined {
    const name = this.#typeOfKind(apiVersion, kind);
    return this.#declarations.has(name) ? this.#object(name) : undefined;
  }

  /** Returns {@link numberedFields} of a kind. */
  numberedFieldsOfKind(apiVersion: string, kind: string): readonly string[] {
    return this.numberedFields(this.#typeOfKind(apiVersion, kind));
  }

  #typeOfKind(apiVersion: string, kind: string): string {
    return this.#kinds.get(`${apiVersion}/${kind}`) ?? kind;
  }

  /**
   * Returns the names of a type's fields by protobuf number, from number 1; `-` where a number has no field, and `~Type`
   * for an inlined message. Empty when the type has no numbers.
   */
  numberedFields(type: string): readonly string[] {
    const known = this.#numberedFields.get(type);
    if (known !== undefined) return known;
    const texts = this.#declaredFields(type);
    const bar = texts.indexOf("|");
    const names = texts.slice(0, bar < 0 ? texts.length : bar).map((text) => /^~?[\w-]*/.exec(text)![0]);
    this.#numberedFields.set(type, names);
    return names;
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
      atomic: this.#declarations.get(name)?.atomicTypes?.has(name) === true,
      next: undefined,
      ...(TYPES_WITH_VALIDATED_VALUES.has(name) ? { validatedValues: new ValidatedValues() } : {}),
    };
    // Stored before its fields, because types may contain themselves.
    this.#types.set(name, schema);
    // Ordered by name: letters sort behind marks and the colon.
    for (const text of this.#jsonFields(name).sort()) {
      const field = this.#field(text);
      fields.set(field.name, field);
      if (field.zero !== undefined) alwaysPresent.push(field);
    }
    return schema;
  }

  #declaredFields(type: string): string[] {
    return this.#declarations.get(type)?.fields[type]?.split(" ") ?? [];
  }

  /** Returns the declarations of a type's fields, with those of its inlined messages. */
  #jsonFields(type: string): string[] {
    return this.#declaredFields(type).flatMap((text) =>
      text.startsWith("~") ? this.#jsonFields(text.slice(1)) : text === "-" || text === "|" ? [] : [text],
    );
  }

  #field(text: string): FieldSchema {
    const [, name = "", marks = "", type = "string"] = /^([\w$-]+)([^:]*)(?::(.*))?$/.exec(text) ?? [];
    const required = marks.includes("!");
    const isWritten = marks.includes("+");
    const isPointer = marks.includes("*");
    return new BuiltInField(
      {
        name,
        required,
        dropsZero: isCollection(type)
          ? !isPointer
          : TEXTS.has(type)
            ? !required && !isWritten && !isPointer
            : marks.includes("?"),
        zero: !isWritten ? undefined : isPointer ? null : zeroOf(type),
        replaces: marks.includes("="),
      },
      () => this.#parse(type),
    );
  }

  #parse(type: string): Schema {
    const [, bracket, options = "", element = ""] = /^([[{])([^\]}]*)[\]}](.*)$/.exec(type) ?? [];
    if (bracket === "[") return listOf(this.#parse(element), options);
    if (bracket === "{") return { type: "map", value: this.#parse(element), atomic: options === "atomic" };
    if (type === "any") return anySchema;
    return isScalar(type) ? { type: "scalar", scalar: type } : this.#object(type);
  }
}

/** @param options - The text between the brackets: `containerPort,protocol=TCP`. */
function listOf(item: Schema, options: string): ListSchema {
  const [, only, keyList = "", retain] = /^(?:(apply|patch):)?([^!]*)(!?)$/.exec(options) ?? [];
  const isSet = keyList === "set";
  const keys = keyList === "" || isSet ? [] : keyList.split(",").map((text) => text.split("=") as [string, string?]);
  const names = keys.map(([name]) => name);
  const defaults = keys.filter(([, value]) => value !== undefined);
  const isMerged = keyList !== "" && only !== "apply";
  const isOwnedByElement = keyList !== "" && only !== "patch";
  return {
    type: "list",
    item,
    ...(isMerged ? { merge: { ...(isSet ? {} : { mergeKey: names[0]! }), retainKeys: retain === "!" } } : {}),
    listType: !isOwnedByElement ? "atomic" : isSet ? "set" : "map",
    keys: isOwnedByElement ? names : [],
    ...(defaults.length > 0 ? { keyDefaults: Object.fromEntries(defaults) } : {}),
  };
}

function isCollection(type: string): boolean {
  return type.startsWith("[") || type.startsWith("{");
}

function isScalar(type: string): type is ScalarType {
  return Object.hasOwn(SCALARS, type);
}

function zeroOf(type: string): unknown {
  return isScalar(type) ? SCALARS[type] : isCollection(type) || type === "any" ? null : {};
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

  constructor(field: Required<Omit<FieldSchema, "schema" | "next">>, makeSchema: () => Schema) {
    this.name = field.name;
    this.required = field.required;
    this.dropsZero = field.dropsZero;
    this.zero = field.zero;
    this.replaces = field.replaces;
    this.#makeSchema = makeSchema;
  }

  get schema(): Schema {
    return (this.#schema ??= this.#makeSchema());
  }
}
