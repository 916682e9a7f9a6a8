import { isSame } from "./shape.js";

/** Restrictions of values within a {@link Shape}, with JSON Schema's keywords. */
export interface Rules {
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Rules>>;
  /** Rules of the values of a map. */
  readonly values?: Rules;
  /** Rules of the items of a list. */
  readonly items?: Rules;
  readonly allOf?: readonly Rules[];
  readonly anyOf?: readonly Rules[];
  readonly oneOf?: readonly Rules[];
  readonly not?: Rules;
}

export function isEmpty(rules: Rules | undefined): boolean {
  return rules === undefined || Object.keys(rules).length === 0;
}

/** Combines two rules that both apply. Keywords that both contain go into `allOf`. */
export function mergeRules(a: Rules, b: Rules): Rules {
  if (isEmpty(a) || isSame(a, b)) return b;
  if (isEmpty(b)) return a;
  const merged: Record<string, unknown> = { ...a };
  const left: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(b)) {
    const own = merged[key];
    if (own === undefined || isSame(own, value)) merged[key] = value;
    else if (key === "required") merged[key] = [...new Set([...(own as string[]), ...(value as string[])])];
    else if (key === "allOf") merged[key] = [...(own as Rules[]), ...(value as Rules[])];
    else if (key === "properties") merged[key] = mergeProperties(own as PropertyRules, value as PropertyRules);
    else if (key === "items" || key === "values") merged[key] = mergeRules(own as Rules, value as Rules);
    else left[key] = value;
  }
  if (Object.keys(left).length > 0) merged["allOf"] = [...((merged["allOf"] as Rules[] | undefined) ?? []), left];
  return merged;
}

type PropertyRules = Readonly<Record<string, Rules>>;

function mergeProperties(a: PropertyRules, b: PropertyRules): PropertyRules {
  const all: Record<string, Rules> = { ...a };
  for (const [name, rules] of Object.entries(b)) all[name] = mergeRules(all[name] ?? {}, rules);
  return all;
}

/** Combines rules of which at least one applies, or exactly one. */
export function alternatives(keyword: "anyOf" | "oneOf", all: readonly Rules[]): Rules {
  if (keyword === "anyOf") {
    const different = all.filter((rules, index) => all.findIndex((other) => isSame(other, rules)) === index);
    if (different.some(isEmpty)) return {};
    if (different.length === 1) return different[0]!;
    if (different.every(isEnum)) return { enum: [...new Set(different.flatMap((rules) => rules.enum ?? []))] };
    return { anyOf: different };
  }
  if (all.every(isEnum)) {
    const values = all.flatMap((rules) => rules.enum ?? []);
    return { enum: values.filter((value) => values.filter((other) => other === value).length === 1) };
  }
  return all.length === 1 ? all[0]! : { oneOf: all };
}

function isEnum(rules: Rules): boolean {
  return rules.enum !== undefined && Object.keys(rules).length === 1;
}
