import { EACH, type Problems, type SchemaPath } from "./schema-problem.js";
import type { JsonSchema } from "./translate.js";

/** The fields of a zod 4 schema that are inspected. zod is not imported, so that it remains optional. */
interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly coerce?: boolean;
      readonly defaultValue?: unknown;
      readonly checks?: readonly { readonly _zod: { readonly def: ZodCheck } }[];
    } & Partial<ZodCheck>;
  };
}

interface ZodCheck {
  readonly check: string;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly protocol?: RegExp;
  readonly hostname?: RegExp;
}

interface Visit {
  readonly zodSchema: ZodSchema;
  readonly jsonSchema: Record<string, unknown>;
  readonly path: readonly (string | number)[];
}

/** Checks that zod converts to JSON Schema, except what {@link ZodInspector} finds. */
const REPRESENTABLE_CHECKS: ReadonlySet<string> = new Set([
  "greater_than",
  "less_than",
  "multiple_of",
  "number_format",
  "min_length",
  "max_length",
  "length_equals",
  "string_format",
]);

const CHANGES = "and the API server stores what it is sent: leave that to who reads it";

const UNREPRESENTABLE: Readonly<Record<string, string>> = {
  pipe: `is transformed, ${CHANGES}`,
  transform: `is transformed, ${CHANGES}`,
  catch: "takes anything instead of what is wrong (.catch), which the API server refuses: use .default(…)",
  overwrite: `is changed by its schema (.trim(), .toLowerCase() and the like), ${CHANGES}, or take .regex(…)`,
  custom:
    'has a .refine(…), and the API server runs no JavaScript: add the same as .meta({ "x-kubernetes-validations": [{ rule: "…" }] })',
  date: "is a Date, and JSON has none: use z.iso.datetime()",
  bigint: "is a bigint, and JSON has none: use z.int()",
  set: "is a Set, and JSON has none: use z.array(…)",
  map: "is a Map, and JSON has none: use z.record(z.string(), …)",
};

/**
 * Converts a zod schema to JSON Schema, and finds everything that zod would drop silently: refinements, coercion,
 * changes of the value, flags of regular expressions.
 *
 * @param convert - Calls the schema's own `jsonSchema.input` with these `libraryOptions`.
 */
export function zodJsonSchema(
  convert: (libraryOptions: Record<string, unknown>) => JsonSchema,
  root: SchemaPath,
  problems: Problems,
): JsonSchema {
  const inspector = new ZodInspector(root, problems);
  const schema = convert({
    override: (visit: Visit) => inspector.visit(visit),
    unrepresentable: ({ zodSchema, path, message }: Pick<Visit, "zodSchema" | "path"> & { message: string }) =>
      inspector.reportUnrepresentable(zodSchema, path, message),
  });
  inspector.reportRefinements();
  return schema;
}

class ZodInspector {
  readonly #root: SchemaPath;
  readonly #problems: Problems;
  /**
   * Paths with refinements, and paths with equivalent rules. Each method call creates a new schema with the same path.
   */
  readonly #refined = new Map<string, SchemaPath>();
  readonly #withRules = new Set<string>();

  constructor(root: SchemaPath, problems: Problems) {
    this.#root = root;
    this.#problems = problems;
  }

  visit({ zodSchema, jsonSchema, path }: Visit): void {
    const { def } = zodSchema._zod;
    const at = this.#place(path);
    if (jsonSchema["x-kubernetes-validations"] !== undefined) this.#withRules.add(at.join("\0"));
    if (UNREPRESENTABLE[def.type] !== undefined && def.type !== "custom")
      this.#problems.add(at, UNREPRESENTABLE[def.type]!);
    if (def.coerce === true) this.#problems.add(at, `is coerced, ${CHANGES}, and take z.${def.type}()`);
    if (def.type === "default" && JSON.stringify(def.defaultValue) !== JSON.stringify(def.defaultValue))
      this.#problems.add(
        at,
        "has a default that is another each time, and a CustomResourceDefinition has one value: set it in the controller",
      );
    const checks = [
      ...(def.check === undefined ? [] : [def as ZodCheck]),
      ...(def.checks ?? []).map((each) => each._zod.def),
    ];
    for (const check of checks) this.#check(check, jsonSchema, at);
    fitPatterns(checks, jsonSchema);
  }

  reportUnrepresentable({ _zod: { def } }: ZodSchema, path: readonly (string | number)[], message: string): "any" {
    this.#problems.add(this.#place(path), UNREPRESENTABLE[def.type] ?? `cannot be said in JSON Schema: ${message}`);
    return "any";
  }

  reportRefinements(): void {
    for (const [key, path] of this.#refined)
      if (!this.#withRules.has(key)) this.#problems.add(path, UNREPRESENTABLE["custom"]!);
  }

  #check(check: ZodCheck, jsonSchema: Record<string, unknown>, at: SchemaPath): void {
    const { check: kind, format = "", pattern } = check;
    if (kind === "custom") this.#refined.set(at.join("\0"), at);
    else if (!REPRESENTABLE_CHECKS.has(kind))
      this.#problems.add(at, UNREPRESENTABLE[kind] ?? `has a check (${kind}) that JSON Schema has no word for`);
    else if (kind === "string_format" && pattern === undefined && jsonSchema["format"] !== named(format))
      this.#problems.add(at, `has the format ${format} and another: say one of them as .regex(…)`);
    if (check.protocol !== undefined || check.hostname !== undefined)
      this.#problems.add(at, "is a URL of certain protocols or hosts: say it as z.url().regex(/^https:\\/\\/…/)");
  }

  /** Path of field names, without JSON Schema's keywords. */
  #place(path: readonly (string | number)[]): SchemaPath {
    const place = [...this.#root];
    for (let index = 0; index < path.length; index++) {
      const step = path[index]!;
      if (step === "properties") place.push(String(path[++index]));
      else if (step === "items" || step === "additionalProperties") place.push(EACH);
    }
    return place;
  }
}

/** zod's formats with another name in JSON Schema. */
const RENAMED: Readonly<Record<string, string>> = {
  guid: "uuid",
  url: "uri",
  datetime: "date-time",
  json_string: "json-string",
};

function named(format: string): string {
  return RENAMED[format] ?? format;
}

const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const SECONDS = "\\d+(?:[.,]\\d+)?S";
const TIME = `(?:\\d+H(?:\\d+M)?(?:${SECONDS})?|\\d+M(?:${SECONDS})?|${SECONDS})`;
const DATE = "(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)";

/** zod's patterns with lookahead, which the API server cannot compile, rewritten without it. */
const WITHOUT_LOOKAHEAD: Readonly<Record<string, string>> = {
  duration: `^P(?:\\d+W|${DATE}(?:T${TIME})?|T${TIME})$`,
  hostname: `^${LABEL}(?:\\.${LABEL})*\\.?$`,
};
/**
 * The length that zod checks by lookahead. Here the final dot counts too: a name of 253 characters plus a dot is
 * rejected.
 */
const MAX_HOSTNAME_LENGTH = 253;
/** Formats that the API server validates as zod does, without zod's patterns. */
const CHECKED_BY_FORMAT: ReadonlySet<string> = new Set(["date", "ipv4", "ipv6"]);

/** Adds the regular expression flags that JSON Schema lacks, and rewrites zod's own patterns for the API server. */
function fitPatterns(checks: readonly ZodCheck[], jsonSchema: Record<string, unknown>): void {
  const fitting = new Map<unknown, string | undefined>();
  for (const { pattern, format = "" } of checks) {
    if (pattern === undefined) continue;
    const flags = pattern.flags.replaceAll(/[^ims]/g, "");
    if (CHECKED_BY_FORMAT.has(format)) fitting.set(pattern.source, undefined);
    else if (flags !== "") fitting.set(pattern.source, `(?${flags})${pattern.source}`);
    else if (WITHOUT_LOOKAHEAD[format] !== undefined) fitting.set(pattern.source, WITHOUT_LOOKAHEAD[format]);
    if (format === "hostname")
      jsonSchema["maxLength"] = Math.min(
        (jsonSchema["maxLength"] as number | undefined) ?? Infinity,
        MAX_HOSTNAME_LENGTH,
      );
  }
  // One of several patterns defines the format.
  const isExpressedByPattern = checks.some(
    ({ pattern, format = "" }) => pattern !== undefined && named(format) === jsonSchema["format"],
  );
  if (isExpressedByPattern && jsonSchema["pattern"] === undefined) delete jsonSchema["format"];
  const { allOf = [] } = jsonSchema as { allOf?: Record<string, unknown>[] };
  for (const schema of [jsonSchema, ...allOf]) {
    if (!fitting.has(schema["pattern"])) continue;
    const pattern = fitting.get(schema["pattern"]);
    // When another format follows, only the pattern expresses this one.
    if (pattern !== undefined) schema["pattern"] = pattern;
    else if (schema === jsonSchema && CHECKED_BY_FORMAT.has(String(schema["format"]))) delete schema["pattern"];
  }
}
