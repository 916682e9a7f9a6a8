import { EACH, type Problems, type SchemaPath } from "./schema-problem.js";

/** Type of a value: Kubernetes requires exactly one. */
export type ShapeType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "int-or-string";

/**
 * The structural half of a schema: types, names and defaults. A CustomResourceDefinition has one shape for each value;
 * the other restrictions of values ({@link Rules}) may have alternatives.
 */
export interface Shape {
  /** Absent: any type. */
  readonly type?: ShapeType | undefined;
  readonly nullable: boolean;
  /** Whether null is the only allowed value. */
  readonly onlyNull?: boolean;
  /** Fields of an object with fixed names. */
  readonly properties?: ReadonlyMap<string, Shape> | undefined;
  /**
   * Fields that must be absent, though other alternatives have them; `others`: all fields that `properties` does not
   * list.
   */
  readonly absent?: readonly string[] | "others" | undefined;
  /** Shape of the values of a map. */
  readonly values?: Shape | undefined;
  /** Shape of the items of a list. */
  readonly items?: Shape | undefined;
  /** Whether unknown fields of an object are preserved. */
  readonly keepsUnknown?: boolean | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The default, wrapped in an object because any JSON value is allowed, null included. */
  readonly default?: { readonly value: unknown } | undefined;
  /** Other Kubernetes extensions, `x-kubernetes-…`. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

export const ANYTHING: Shape = { nullable: true, extensions: {} };

/** The intersection of two shapes: `allOf`. */
export function meet(a: Shape, b: Shape, path: SchemaPath, problems: Problems): Shape {
  const type = meetTypes(a.type, b.type);
  if (type === null) problems.add(path, `would have to be ${a.type} and ${b.type} at once`);
  if (a.default !== undefined && b.default !== undefined && !isSame(a.default, b.default))
    problems.add(path, "has two defaults: leave one");
  const both = (x: Shape, y: Shape, step: string): Shape => meet(x, y, [...path, step], problems);
  return {
    ...annotationsOf(a),
    ...annotationsOf(b),
    type: type ?? undefined,
    nullable: a.nullable && b.nullable,
    onlyNull: a.onlyNull === true || b.onlyNull === true,
    properties: combineProperties(a, b, both),
    absent: a.absent ?? b.absent,
    values: combined(a.values, b.values, (x, y) => both(x, y, EACH)),
    items: combined(a.items, b.items, (x, y) => both(x, y, EACH)),
    keepsUnknown: a.keepsUnknown === true || b.keepsUnknown === true,
    default: a.default ?? b.default,
    extensions: { ...a.extensions, ...b.extensions },
  };
}

/**
 * The union of two shapes, for `anyOf` and `oneOf`. Adds a problem for anything that no single structure can express.
 */
export function join(a: Shape, b: Shape, path: SchemaPath, problems: Problems): Shape {
  if (a.type === undefined || b.type === undefined) return { ...ANYTHING, ...sharedAnnotations(a, b) };
  const type = joinTypes(a.type, b.type);
  if (type === undefined) {
    problems.add(
      path,
      `is ${a.type} or ${b.type}, and a field has one type: give each its own field, or keep any value with .meta({ "x-kubernetes-preserve-unknown-fields": true })`,
    );
    return a;
  }
  if ((a.values === undefined) !== (b.values === undefined))
    problems.add(path, "is a map or an object with named members: give each its own field");
  if (!isSame(a.default, b.default))
    problems.add(path, "has a default in one alternative only, which would be filled in for all: set it on the union");
  if (!isSame(a.extensions, b.extensions))
    problems.add(path, "has other x-kubernetes-… settings in one alternative: set them on the union");
  const either = (x: Shape, y: Shape, step: string): Shape => {
    const at = [...path, step];
    if (x.nullable !== y.nullable)
      problems.add(at, "may be null in one alternative only: allow null in all of them, or in none");
    return join(x, y, at, problems);
  };
  const properties = combineProperties(a, b, either);
  for (const [name, property] of properties ?? [])
    if (property.default !== undefined && !(a.properties?.has(name) === true && b.properties?.has(name) === true))
      problems.add(
        [...path, name],
        "has a default and is in one alternative only, so others would get it: leave it out",
      );
  return {
    ...sharedAnnotations(a, b),
    type,
    nullable: a.nullable || b.nullable,
    properties,
    values: combined(a.values, b.values, (x, y) => either(x, y, EACH)),
    items: combined(a.items, b.items, (x, y) => either(x, y, EACH)),
    absent: a.absent === "others" && b.absent === "others" ? "others" : undefined,
    keepsUnknown: a.keepsUnknown === true || b.keepsUnknown === true,
    default: a.default,
    extensions: a.extensions,
  };
}

/** `null`: no type is both. */
function meetTypes(a: ShapeType | undefined, b: ShapeType | undefined): ShapeType | undefined | null {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  const narrower = (wide: ShapeType, narrow: readonly ShapeType[]): ShapeType | undefined =>
    a === wide && narrow.includes(b) ? b : b === wide && narrow.includes(a) ? a : undefined;
  return narrower("number", ["integer"]) ?? narrower("int-or-string", ["integer", "string"]) ?? null;
}

function joinTypes(a: ShapeType, b: ShapeType): ShapeType | undefined {
  if (a === b) return a;
  const are = (...types: readonly ShapeType[]): boolean => types.includes(a) && types.includes(b);
  if (are("integer", "number")) return "number";
  return are("integer", "string", "int-or-string") ? "int-or-string" : undefined;
}

function combineProperties(
  a: Shape,
  b: Shape,
  combine: (x: Shape, y: Shape, name: string) => Shape,
): ReadonlyMap<string, Shape> | undefined {
  if (a.properties === undefined || b.properties === undefined) return a.properties ?? b.properties;
  const all = new Map(a.properties);
  for (const [name, property] of b.properties) {
    const other = all.get(name);
    all.set(name, other === undefined ? property : combine(other, property, name));
  }
  return all;
}

function combined<T>(a: T | undefined, b: T | undefined, combine: (a: T, b: T) => T): T | undefined {
  return a === undefined || b === undefined ? (a ?? b) : combine(a, b);
}

function annotationsOf({ title, description }: Shape): Pick<Shape, "title" | "description"> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}

/** Titles and descriptions that both shapes have. */
function sharedAnnotations(a: Shape, b: Shape): Pick<Shape, "title" | "description"> {
  return annotationsOf({
    ...ANYTHING,
    ...(a.title === b.title ? { title: a.title } : {}),
    ...(a.description === b.description ? { description: a.description } : {}),
  });
}

/**
 * Compares JSON data. The order of members counts, so equal values that were written differently count as different.
 */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
