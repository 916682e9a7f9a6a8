/** A CEL type. Upstream: cel-go `common/types`. */
export type Type =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly item: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  /** An object with known fields. Two object types are equal when their names are equal. */
  | { readonly kind: "object"; readonly name: string; readonly fields: ReadonlyMap<string, Type> }
  /** A type that only functions create and read: `optional_type(int)`, `kubernetes.Quantity`. */
  | { readonly kind: "opaque"; readonly name: string; readonly parameters: readonly Type[] }
  | { readonly kind: "type"; readonly of: Type | undefined }
  /** A type parameter, which the checker resolves. */
  | { readonly kind: "parameter"; readonly name: string };

export type ScalarKind =
  "null" | "bool" | "int" | "uint" | "double" | "string" | "bytes" | "timestamp" | "duration" | "dyn" | "error";

export const NULL: Type = { kind: "null" };
export const BOOL: Type = { kind: "bool" };
export const INT: Type = { kind: "int" };
export const UINT: Type = { kind: "uint" };
export const DOUBLE: Type = { kind: "double" };
export const STRING: Type = { kind: "string" };
export const BYTES: Type = { kind: "bytes" };
export const TIMESTAMP: Type = { kind: "timestamp" };
export const DURATION: Type = { kind: "duration" };
/** Any type. The evaluator finds the actual type. */
export const DYN: Type = { kind: "dyn" };
/** The type of a subexpression with a reported error. It causes no further errors. */
export const ERROR: Type = { kind: "error" };

export const listOf = (item: Type): Type => ({ kind: "list", item });
export const mapOf = (key: Type, value: Type): Type => ({ kind: "map", key, value });
export const opaque = (name: string, ...parameters: readonly Type[]): Type => ({ kind: "opaque", name, parameters });
export const optionalOf = (of: Type): Type => opaque("optional_type", of);
export const typeOf = (of?: Type): Type => ({ kind: "type", of });
export const parameter = (name: string): Type => ({ kind: "parameter", name });

/** Type names that an expression may use as values. */
export const NAMED_TYPES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ["bool", BOOL],
  ["bytes", BYTES],
  ["double", DOUBLE],
  ["int", INT],
  ["uint", UINT],
  ["string", STRING],
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["null_type", NULL],
  ["type", typeOf()],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["google.protobuf.Duration", DURATION],
  ["optional_type", optionalOf(DYN)],
  ["net.IP", opaque("net.IP")],
  ["net.CIDR", opaque("net.CIDR")],
]);

export function isOptional(type: Type): type is Extract<Type, { kind: "opaque" }> {
  return type.kind === "opaque" && type.name === "optional_type";
}

/** Formats a type as cel-go's errors do: `map(string, list(int))`. Upstream: `checker.FormatCELType`. */
export function typeName(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${typeName(type.item)})`;
    case "map":
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
    case "object":
      return type.name;
    case "opaque":
      return type.parameters.length === 0
        ? type.name
        : `${type.name}(${type.parameters.map((each) => typeName(each)).join(", ")})`;
    case "type":
      return type.of === undefined ? "type" : `type(${typeName(type.of)})`;
    case "parameter":
      return type.name;
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "error":
      return "!error!";
    default:
      return type.kind;
  }
}

/** Returns the types that a list, a map or an opaque type is made of. */
export function innerTypes(type: Type): readonly Type[] {
  switch (type.kind) {
    case "list":
      return [type.item];
    case "map":
      return [type.key, type.value];
    case "opaque":
      return type.parameters;
    default:
      return [];
  }
}

/** Returns the type with all types replaced that it is made of. */
export function mapInnerTypes(type: Type, replace: (inner: Type) => Type): Type {
  switch (type.kind) {
    case "list":
      return listOf(replace(type.item));
    case "map":
      return mapOf(replace(type.key), replace(type.value));
    case "opaque":
      return type.parameters.length === 0 ? type : opaque(type.name, ...type.parameters.map(replace));
    case "type":
      return type.of === undefined ? type : typeOf(replace(type.of));
    default:
      return type;
  }
}

/** Whether two types have the same kind and name. The types that they are made of may differ. */
export function isSameOutside(a: Type, b: Type): boolean {
  return a.kind === b.kind && (!("name" in a) || a.name === (b as typeof a).name);
}

export function isSameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  const others = innerTypes(b);
  return isSameOutside(a, b) && innerTypes(a).every((each, index) => isSameType(each, others[index]!));
}
