import { type OutputUnit, Validator } from "@cfworker/json-schema";

import { suggestion } from "../did-you-mean.js";
import { scenarioSchema } from "./scenario-schema.js";
import type { Path, ScenarioProblem } from "./problem.js";

/** Checks a value against a JSON schema. The validator generates no code, which some browser pages do not permit. */
export async function checkSchema(value: unknown, schema: object = scenarioSchema): Promise<ScenarioProblem[]> {
  // The validator writes locations into its schema.
  const { errors } = new Validator(structuredClone(schema), "2020-12", false).validate(value);
  const problems = new Map<string, ScenarioProblem>();
  for (const [index, error] of errors.entries())
    for (const problem of explain(error, errors[index - 1], schema as Schema, value)) {
      // For a value of the wrong type, one problem is sufficient.
      const isOfField = error.keyword === "required" || error.keyword === "false";
      const place = `${error.instanceLocation} ${isOfField ? problem.message : ""}`;
      if (!problems.has(place)) problems.set(place, problem);
    }
  return [...problems.values()];
}

/** A part of a schema. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly title?: string;
  readonly examples?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

function explain(
  { keyword, keywordLocation, instanceLocation }: OutputUnit,
  before: OutputUnit | undefined,
  root: Schema,
  value: unknown,
): ScenarioProblem[] {
  const path = pathOf(instanceLocation, value);
  const data = valueAt(value, path);
  const steps = stepsOf(keyword === "false" ? before!.keywordLocation : keywordLocation);
  // `additionalProperties: false`: the preceding error has its location in the schema.
  if (keyword === "false") {
    const known = Object.keys(schemaAt(root, steps.slice(0, -1)).properties ?? {});
    return [{ path, atKey: true, message: `is not a field of this; ${suggestion(String(path.at(-1)), known)}` }];
  }
  const named = steps.indexOf("propertyNames");
  if (named >= 0 && named < steps.length - 1) {
    const names = schemaAt(root, steps.slice(0, named + 1));
    return [{ path, atKey: true, message: `${show(path.at(-1))} is not ${wanted(names, "a name")}` }];
  }
  const schema = schemaAt(root, steps.slice(0, -1));
  const limit = schema[keyword];
  const problemWith = (message: string): ScenarioProblem[] => [{ path, message }];
  switch (keyword) {
    case "required":
      return (limit as readonly string[])
        .filter((name) => !Object.hasOwn(data as object, name))
        .map((name) => ({ path, message: `${name} is missing` }));
    case "enum":
      return problemWith(
        `${show(data)} is not known; ${suggestion(String(data), (limit as readonly unknown[]).map(String))}`,
      );
    case "const":
      return problemWith(`is ${show(data)}; write ${JSON.stringify(limit)}`);
    case "type":
      return problemWith(`${show(data)} is not ${wanted(schema, [limit].flat().join(","))}`);
    case "pattern":
      if (typeof data === "string" && data.startsWith("-") && (schema.title ?? "").startsWith("a duration"))
        return problemWith(`${show(data)} is negative; write a duration such as ${(schema.examples ?? []).join(", ")}`);
      return problemWith(`${show(data)} is not ${wanted(schema, "that")}`);
    case "minimum":
      return problemWith(`${show(data)} is too small; at least ${String(limit)} is needed`);
    case "maximum":
      return problemWith(`${show(data)} is too large; at most ${String(limit)} is allowed`);
    case "maxLength":
      return problemWith(`${show(data)} is too long; at most ${String(limit)} characters are allowed`);
    case "maxItems":
      return problemWith(`must NOT have more than ${String(limit)} items`);
    case "minLength":
    case "minItems":
    case "minProperties":
      return problemWith("is empty; write something, or leave the field out");
    default:
      // Errors of nested schemas are reported separately.
      return [];
  }
}

/** Returns the part of a schema at the end of a path, which may contain references. */
function schemaAt(root: Schema, steps: readonly string[]): Schema {
  let schema = root;
  for (const step of steps) {
    const next = schema[step];
    schema = (step === "$ref" ? resolved(String(next), root) : next) as Schema;
  }
  return schema;
}

function resolved(reference: string, root: Schema): Schema {
  return schemaAt(root, stepsOf(reference));
}

function wanted({ title, examples }: Schema, type: string): string {
  // The YAML terms, which `show` uses too.
  const named = type.replaceAll("array", "list").replaceAll("object", "mapping").replaceAll(",", " or ");
  const what = title ?? (/^[aeiou]/.test(named) ? `an ${named}` : `a ${named}`);
  return examples === undefined ? what : `${what}; write for example ${examples.join(" or ")}`;
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return JSON.stringify(value);
}

/** Converts a JSON pointer to a path; positions in lists become numbers. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let value = root;
  for (const step of stepsOf(pointer)) {
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | undefined)?.[step];
  }
  return path;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) value = (value as Record<string | number, unknown> | null | undefined)?.[step];
  return value;
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
