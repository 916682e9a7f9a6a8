import { docstring, schemaDocs } from "./docstring.js";
import { type JsonObject, isObject, listAt, objectAt } from "./json-data.js";
import { type TypeNames, pascalCase } from "./type-names.js";

/** Part of a schema that a type cannot express. */
export interface TypeWarning {
  /** `spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.x`. */
  readonly path: string;
  readonly text: string;
}

/** An interface, with its members as lines of source code. */
interface Declaration {
  readonly name: string;
  readonly docs: readonly string[];
  readonly parent: string | undefined;
  readonly members: string;
}

/** A value whose type is written. */
interface Place {
  readonly path: string;
  /** Name of the value's interface, if it gets one. */
  readonly nameOf: () => string;
  /** Documentation of that interface. */
  readonly docs: readonly string[];
}

const INDENT = "  ";
/** Members that every Kubernetes object has. */
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Writes TypeScript types of schemas. Every object with properties becomes an interface.
 *
 * A field is optional if the schema does not require it, and also if it has a default: then writers may omit it.
 */
export class SchemaTypes {
  readonly warnings: TypeWarning[] = [];
  readonly #names: TypeNames;
  /** In the order in which they are written: outer before inner ones. */
  readonly #declarations: (Declaration | undefined)[] = [];
  readonly #imports = new Set<string>();

  constructor(names: TypeNames) {
    this.#names = names;
  }

  /** The types to import from `@kubewright/api`. */
  get imports(): ReadonlySet<string> {
    return this.#imports;
  }

  /** Returns the source code of the interfaces since the last call. */
  takeDeclarations(): string[] {
    return this.#declarations.splice(0).map((declaration) => {
      const { name, docs, parent, members } = declaration!;
      const heritage = parent === undefined ? "" : ` extends ${parent}`;
      return `${docstring(docs, "")}export interface ${name}${heritage} {\n${members}}\n`;
    });
  }

  /** Adds the interface of a whole object of a resource. */
  addResource(name: string, schema: JsonObject, docs: readonly string[], path: string): void {
    this.#imports.add("KubernetesObject");
    this.#junctors(schema, path);
    this.#declare(name, schema, docs, path, "KubernetesObject");
  }

  /** Adds an interface, and reserves its place before those of its members. */
  #declare(name: string, schema: JsonObject, docs: readonly string[], path: string, parent?: string): void {
    const place = this.#declarations.push(undefined) - 1;
    this.#declarations[place] = { name, docs, parent, members: this.#members(name, schema, path, parent) };
  }

  #members(owner: string, schema: JsonObject, path: string, parent: string | undefined): string {
    const required = new Set(listAt(schema["required"]));
    let members = "";
    for (const [name, value] of Object.entries(objectAt(schema["properties"]))) {
      if (parent !== undefined && OBJECT_MEMBERS.has(name)) continue;
      const member = objectAt(value);
      const at = step(`${path}.properties`, name);
      // The docstring of the member says what an interface of its own would say.
      const type = this.#type(value, { path: at, nameOf: () => `${owner}${pascalCase(name)}`, docs: [] });
      const mark = required.has(name) && member["default"] === undefined ? "" : "?";
      members += `${docstring(schemaDocs(member), INDENT)}${INDENT}${memberName(name)}${mark}: ${type};\n`;
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] === true || isOpen(schema["additionalProperties"]))
      members += `${INDENT}[field: string]: unknown;\n`;
    return members;
  }

  /** The type of a value. */
  #type(schema: unknown, place: Place): string {
    const { path } = place;
    if (!isObject(schema)) {
      this.#warn(path, "is no schema, so the type is unknown");
      return "unknown";
    }
    this.#junctors(schema, path);
    const type = this.#listed(schema, path) ?? this.#structure(schema, place);
    return schema["nullable"] === true && type !== "unknown" && !/(?:^|\| )null$/.test(type) ? `${type} | null` : type;
  }

  /** The union of the values that an enum lists, if there is one. */
  #listed(schema: JsonObject, path: string): string | undefined {
    const alone = listAt(schema["allOf"]).filter(isOnlyEnum);
    const values = schema["enum"] ?? alone[0]?.["enum"];
    if (values === undefined) return undefined;
    const literals = listAt(values);
    if (literals.length === 0 || literals.some((value) => typeof value === "object" && value !== null)) {
      this.#warn(`${path}.enum`, "lists values that are no literals, so the type allows others");
      return undefined;
    }
    const nullable = schema["nullable"] === true && !literals.includes(null) ? [...literals, null] : literals;
    return [...new Set(nullable.map((value) => JSON.stringify(value)))].join(" | ");
  }

  #structure(schema: JsonObject, place: Place): string {
    const { path } = place;
    if (schema["x-kubernetes-int-or-string"] === true) return "number | string";
    switch (schema["type"] ?? typeByKeyword(schema)) {
      case "object":
        return this.#object(schema, place);
      case "array":
        if (schema["items"] === undefined) return "unknown[]";
        return listOf(this.#type(schema["items"], placeBelow(place, "items", schema["items"])));
      case "string":
        return "string";
      case "integer":
      case "number":
        return "number";
      case "boolean":
        return "boolean";
      case undefined:
        if (schema["x-kubernetes-preserve-unknown-fields"] !== true)
          this.#warn(path, "has no type, so the type is unknown");
        return "unknown";
      default:
        this.#warn(path, `has the type ${JSON.stringify(schema["type"])}, so the type is unknown`);
        return "unknown";
    }
  }

  #object(schema: JsonObject, place: Place): string {
    const { path, nameOf, docs } = place;
    const { properties, additionalProperties: others } = schema;
    const names = Object.keys(objectAt(properties));
    const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
    if (isEmbedded && names.every((name) => OBJECT_MEMBERS.has(name))) {
      const type = keepsUnknown ? "UnstructuredObject" : "KubernetesObject";
      this.#imports.add(type);
      return type;
    }
    if (names.length > 0) {
      if (isOpen(others))
        this.#warn(`${path}.additionalProperties`, "stands beside properties, so the type of other fields is unknown");
      const name = this.#names.take(nameOf());
      if (isEmbedded) this.#imports.add("KubernetesObject");
      this.#declare(name, schema, docs, path, isEmbedded ? "KubernetesObject" : undefined);
      return name;
    }
    if (isObject(others) && Object.keys(others).length > 0)
      return `Record<string, ${this.#type(others, placeBelow(place, "additionalProperties", others))}>`;
    // The API server removes the fields of an object without properties.
    return keepsUnknown || isOpen(others) ? "Record<string, unknown>" : "Record<string, never>";
  }

  /** Warns about alternatives, which restrict a value beyond its type. */
  #junctors(schema: JsonObject, path: string): void {
    for (const keyword of ["allOf", "anyOf", "oneOf", "not"] as const) {
      if (schema[keyword] === undefined) continue;
      if (keyword === "allOf" && listAt(schema[keyword]).every(restrictsNoType)) continue;
      if (keyword === "anyOf" && isIntOrString(schema)) continue;
      this.#warn(`${path}.${keyword}`, "is not expressed: the type allows more than the API server");
    }
  }

  #warn(path: string, text: string): void {
    this.warnings.push({ path, text });
  }
}

function step(path: string, name: string): string {
  return /^[\w-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

/** The items of a list or the values of a map: no member documents their interface. */
function placeBelow({ path, nameOf }: Place, keyword: string, schema: unknown): Place {
  return { path: `${path}.${keyword}`, nameOf, docs: schemaDocs({ description: objectAt(schema)["description"] }) };
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function listOf(item: string): string {
  return /[ |]/.test(item) && !/^Record<[^|]*>$/.test(item) ? `(${item})[]` : `${item}[]`;
}

/** Whether fields of any type may be added. */
function isOpen(additionalProperties: unknown): boolean {
  return additionalProperties === true || isObject(additionalProperties);
}

function typeByKeyword(schema: JsonObject): "object" | "array" | undefined {
  if (isObject(schema["properties"]) || schema["x-kubernetes-embedded-resource"] === true) return "object";
  return schema["items"] === undefined ? undefined : "array";
}

function isOnlyEnum(schema: unknown): schema is JsonObject {
  return isObject(schema) && Object.keys(schema).length === 1 && Array.isArray(schema["enum"]);
}

const NARROWING: ReadonlySet<string> = new Set(["properties", "items", "required", "allOf", "anyOf", "oneOf", "not"]);

/** Whether a type is as precise without this part of an `allOf`: it limits lengths, or is expressed elsewhere. */
function restrictsNoType(schema: unknown): boolean {
  const { enum: values, ...rest } = objectAt(schema);
  if (values !== undefined) return isOnlyEnum(schema);
  return isIntOrString(schema) || !Object.keys(rest).some((keyword) => NARROWING.has(keyword));
}

/** Whether the schema has the alternatives that belong to an int-or-string, and no others. */
function isIntOrString(schema: unknown): boolean {
  const { anyOf } = objectAt(schema);
  return (
    Array.isArray(anyOf) &&
    anyOf.length === 2 &&
    anyOf.every((each) => isObject(each) && Object.keys(each).length === 1) &&
    ["integer", "string"].every((type) => anyOf.some((each) => (each as JsonObject)["type"] === type))
  );
}
