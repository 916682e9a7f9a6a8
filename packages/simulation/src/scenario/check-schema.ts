import type { ErrorObject } from "ajv/dist/2020.js";

import { suggestion } from "../did-you-mean.js";
import { scenarioSchema } from "./scenario-schema.js";
import type { Path, Problem } from "./problem.js";

/** What the schema has against a value. */
export async function checkSchema(value: unknown, schema: object = scenarioSchema): Promise<Problem[]> {
  // Loaded only when there is something to check: it takes longer than a short run.
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const validate = new Ajv2020({ allErrors: true, verbose: true, strict: false }).compile(schema);
  if (validate(value)) return [];
  const problems: Problem[] = [];
  const refused = new Set<string>();
  for (const error of validate.errors ?? []) {
    const problem = explain(error, value);
    if (problem === undefined) continue;
    // Of a value of the wrong type nothing else needs to be said.
    const place = `${error.instancePath} ${error.keyword === "required" || error.keyword === "additionalProperties" ? problem.message : ""}`;
    if (refused.has(place)) continue;
    refused.add(place);
    problems.push(problem);
  }
  return problems;
}

function explain(error: ErrorObject, root: unknown): Problem | undefined {
  const path = pathOf(error.instancePath, root);
  const schema = (error.parentSchema ?? {}) as { title?: string; examples?: readonly string[]; properties?: object };
  const shown = show(error.data);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "additionalProperties": {
      const name = String(params["additionalProperty"]);
      const known = Object.keys(schema.properties ?? {});
      return { path: [...path, name], atKey: true, message: `is not a field of this; ${suggestion(name, known)}` };
    }
    case "required":
      return { path, message: `${String(params["missingProperty"])} is missing` };
    case "enum": {
      const allowed = (params["allowedValues"] as readonly unknown[]).map(String);
      return { path, message: `${shown} is not known; ${suggestion(String(error.data), allowed)}` };
    }
    case "const":
      return { path, message: `is ${shown}; write ${JSON.stringify(params["allowedValue"])}` };
    case "type":
      return { path, message: `${shown} is not ${wanted(schema, String(params["type"]))}` };
    case "pattern":
      if (typeof error.data === "string" && error.data.startsWith("-") && (schema.title ?? "").startsWith("a duration"))
        return {
          path,
          message: `${shown} is negative; write a duration such as ${(schema.examples ?? []).join(", ")}`,
        };
      // Of a field's name `propertyNames` tells, with the place.
      return error.propertyName === undefined
        ? { path, message: `${shown} is not ${wanted(schema, "that")}` }
        : undefined;
    case "propertyNames": {
      const name = String(params["propertyName"]);
      const names = (error.schema ?? {}) as typeof schema;
      return { path: [...path, name], atKey: true, message: `${show(name)} is not ${wanted(names, "a name")}` };
    }
    case "anyOf":
    case "if":
      // What it leads to is told by itself.
      return undefined;
    case "minimum":
      return { path, message: `${shown} is too small; at least ${String(params["limit"])} is needed` };
    case "maximum":
      return { path, message: `${shown} is too large; at most ${String(params["limit"])} is allowed` };
    case "maxLength":
      return { path, message: `${shown} is too long; at most ${String(params["limit"])} characters are allowed` };
    case "minLength":
    case "minItems":
    case "minProperties":
      return { path, message: "is empty; write something, or leave the field out" };
    default:
      return { path, message: error.message ?? "is not right" };
  }
}

function wanted({ title, examples }: { title?: string; examples?: readonly string[] }, type: string): string {
  // As YAML calls them, and as `show` does.
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

/** A JSON pointer as a path; what is a position in a list becomes a number. */
function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | undefined)?.[step];
  }
  return path;
}
