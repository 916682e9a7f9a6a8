import type { YamlPath } from "@kubewright/apiserver/yaml";
import type { StatusError } from "@kubewright/client";

/** A refusal by the API server, about one field, or about the object when the path is empty. */
export interface FieldProblem {
  readonly path: YamlPath;
  /** The field in the API server's notation: `spec.template.spec.containers[0].image`. */
  readonly field: string;
  /** Whether the field's name is wrong, rather than its value. */
  readonly atKey: boolean;
  readonly message: string;
}

/** Returns the problem of each field in a refusal. */
export function fieldProblems(error: StatusError, object: unknown): FieldProblem[] {
  const { message = "", details } = error.status;
  const unknown = unknownFields(message);
  if (unknown.length > 0)
    return unknown.map((field) => ({ path: pathOf(field), field, atKey: true, message: "unknown field" }));
  const decode = /json: cannot unmarshal (\w+) .*Go struct field \w+\.(\S+) of type (\S+)/.exec(message);
  if (decode !== null) {
    const [, given = "", field = "", expected = ""] = decode;
    const path = wrongValue(object, field.split("."), given) ?? pathOf(field);
    return [
      { path, field: fieldText(path), atKey: false, message: `must be ${typeName(expected)}, not ${article(given)}` },
    ];
  }
  const causes = (details?.causes ?? []).filter(({ field }) => field !== undefined && field !== "<nil>");
  if (causes.length === 0) return [{ path: [], field: "", atKey: false, message }];
  const problems = causes.map(({ field = "", message: text = "" }) => ({
    path: pathOf(field),
    field,
    atKey: false,
    message: text,
  }));
  return problems.filter(
    (each) => !problems.some((other) => other.field === each.field && isNarrower(other.message, each.message)),
  );
}

/**
 * Whether a message lists fewer supported values than another for the same value: a Job permits fewer than a pod does.
 */
function isNarrower(message: string, than: string): boolean {
  const [value, choice] = message.split(SUPPORTED);
  const [otherValue, otherChoice] = than.split(SUPPORTED);
  return (
    choice !== undefined && otherChoice !== undefined && value === otherValue && choice.length < otherChoice.length
  );
}

const SUPPORTED = ": supported values: ";

/** Returns the fields of a `strict decoding error`. */
export function unknownFields(message: string): string[] {
  return message.includes("strict decoding error")
    ? [...message.matchAll(/unknown field "((?:[^"\\]|\\.)*)"/g)].map(([, field]) => field!)
    : [];
}

/** Splits `spec.template.spec.containers[0].env` and `metadata.labels[a/b]` into steps. */
export function pathOf(field: string): (string | number)[] {
  return [...field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, name, within]) =>
    name !== undefined ? name : /^\d+$/.test(within!) ? Number(within) : within!,
  );
}

function fieldText(path: YamlPath): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}

/** Finds the field of a Go decoding error, which omits list indexes: the first field with a value of that type. */
function wrongValue(value: unknown, names: readonly string[], given: string): (string | number)[] | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const rest = wrongValue(item, names, given);
      if (rest !== undefined) return [index, ...rest];
    }
    if (!(names.length === 0 && given === "array")) return undefined;
  }
  const [name, ...rest] = names;
  if (name === undefined) return goType(value) === given ? [] : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found = wrongValue((value as Record<string, unknown>)[name], rest, given);
  return found === undefined ? undefined : [name, ...found];
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return value === null ? "null" : typeof value;
}

function typeName(type: string): string {
  if (/^u?int\d*$/.test(type)) return "a whole number";
  if (type === "bool") return "true or false";
  if (type === "string") return "text (in quotes)";
  if (type.startsWith("[]")) return "a list";
  if (type.startsWith("map[")) return "a mapping";
  return type;
}

function article(given: string): string {
  const words: Readonly<Record<string, string>> = {
    string: "text",
    bool: "true or false",
    number: "a number",
    array: "a list",
    object: "a mapping",
  };
  return words[given] ?? given;
}
