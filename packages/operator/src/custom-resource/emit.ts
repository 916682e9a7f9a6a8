import { type Rules, mergeRules, isEmpty } from "./rules.js";
import { EACH, type Problems, type SchemaPath } from "./schema-problem.js";
import type { Shape } from "./shape.js";
import type { StructuralSchema } from "./structural-schema.js";
import type { TranslatedSchema } from "./translate.js";

/** Combines the two halves of a schema into a structural schema. */
export function emit({ shape, rules }: TranslatedSchema, path: SchemaPath, problems: Problems): StructuralSchema {
  if (shape.onlyNull === true) problems.add(path, "is always null: leave it out");
  const { extensions } = shape;
  if (shape.default?.value === null)
    problems.add(path, "has null for its default, which the API server takes for none: use .nullable().optional()");
  if (shape.type === undefined && extensions["x-kubernetes-validations"] !== undefined)
    problems.add(path, "may be anything, and x-kubernetes-validations need a type: give it one");
  const { properties: ofMembers, items: ofItems, values: ofValues, ...own } = rules;
  return {
    ...typeOf(shape),
    ...(shape.title === undefined ? {} : { title: shape.title }),
    ...(shape.description === undefined ? {} : { description: shape.description }),
    ...(shape.nullable ? { nullable: true } : {}),
    ...(shape.default === undefined ? {} : { default: shape.default.value }),
    ...emitRules(shape, own, path, problems),
    ...(shape.properties === undefined || shape.properties.size === 0
      ? {}
      : {
          properties: Object.fromEntries(
            [...shape.properties].map(([name, member]) => [
              name,
              emit({ shape: member, rules: ofMembers?.[name] ?? {} }, [...path, name], problems),
            ]),
          ),
        }),
    ...(shape.values === undefined
      ? {}
      : { additionalProperties: emit({ shape: shape.values, rules: ofValues ?? {} }, [...path, EACH], problems) }),
    ...(shape.items === undefined
      ? {}
      : { items: emit({ shape: shape.items, rules: ofItems ?? {} }, [...path, EACH], problems) }),
    ...extensions,
  };
}

function typeOf({ type, keepsUnknown }: Shape): StructuralSchema {
  if (type === undefined) return { "x-kubernetes-preserve-unknown-fields": true };
  if (type === "int-or-string") return { "x-kubernetes-int-or-string": true };
  return keepsUnknown === true ? { type, "x-kubernetes-preserve-unknown-fields": true } : { type };
}

/** Emits rules beside a type, or alone in an alternative. */
function emitRules(shape: Shape | undefined, rules: Rules, path: SchemaPath, problems: Problems): StructuralSchema {
  // Upstream looks for null in the enum and never finds it there; nested schemas are not validated against null.
  const { enum: values } = rules;
  const { enum: _values, ...unlisted } = rules;
  const lifted =
    shape?.nullable === true && values !== undefined ? mergeRules(unlisted, { allOf: [{ enum: values }] }) : rules;
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = lifted;
  const { properties, items, values: ofValues, allOf, anyOf, oneOf, not, ...scalars } = rest;
  if (!isEmpty(ofValues)) problems.add([...path, EACH], "is restricted in one alternative: say it for all of them");
  const inner = shape === undefined ? undefined : { ...shape, nullable: false };
  const nested = (all: readonly Rules[]): StructuralSchema[] =>
    all.map((each) => emitRules(inner, each, path, problems));
  return {
    ...scalars,
    ...bound("minimum", minimum, exclusiveMinimum, (a, b) => a >= b),
    ...bound("maximum", maximum, exclusiveMaximum, (a, b) => a <= b),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [
              name,
              emitRules(shape?.properties?.get(name), each, [...path, name], problems),
            ]),
          ),
        }),
    ...(items === undefined ? {} : { items: emitRules(shape?.items, items, [...path, EACH], problems) }),
    ...(allOf === undefined ? {} : { allOf: nested(allOf) }),
    ...(anyOf === undefined ? {} : { anyOf: nested(anyOf) }),
    ...(oneOf === undefined ? {} : { oneOf: nested(oneOf) }),
    ...(not === undefined ? {} : { not: emitRules(inner, not, path, problems) }),
  };
}

/** The stricter of an inclusive and an exclusive bound: Kubernetes has one bound with a flag. */
function bound(
  name: "minimum" | "maximum",
  inclusive: number | undefined,
  exclusive: number | undefined,
  isStricter: (exclusive: number, inclusive: number) => boolean,
): StructuralSchema {
  if (exclusive !== undefined && (inclusive === undefined || isStricter(exclusive, inclusive)))
    return name === "minimum"
      ? { minimum: exclusive, exclusiveMinimum: true }
      : { maximum: exclusive, exclusiveMaximum: true };
  return inclusive === undefined ? {} : { [name]: inclusive };
}
