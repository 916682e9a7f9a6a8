import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

import type { Problems, SchemaPath } from "./schema-problem.js";
import type { JsonSchema } from "./translate.js";
import { zodJsonSchema } from "./zod.js";

/**
 * A schema that validates (Standard Schema) and can say itself in JSON Schema (Standard JSON Schema), as those of zod 4.2 and
 * arktype 2.1.28 or newer do. {@link withJsonSchema} makes one of any other.
 */
export interface CustomResourceSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

export type InputOf<Schema extends CustomResourceSchema> = StandardSchemaV1.InferInput<Schema>;
export type OutputOf<Schema extends CustomResourceSchema> = StandardSchemaV1.InferOutput<Schema>;

/**
 * A schema of any library together with the same in JSON Schema (draft 2020-12 or 07), for libraries that cannot say it
 * themselves. Nobody compares the two.
 */
export function withJsonSchema<Input, Output>(
  schema: StandardSchemaV1<Input, Output>,
  jsonSchema: JsonSchema,
): CustomResourceSchema<Input, Output> {
  const copyOfSchema = (): Record<string, unknown> => ({ ...jsonSchema });
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: copyOfSchema, output: copyOfSchema } } };
}

/** What a schema takes, in JSON Schema. What its library knows to be lost on the way is a problem. */
export function jsonSchemaOf(schema: CustomResourceSchema, path: SchemaPath, problems: Problems): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (typeof (jsonSchema as unknown) !== "object") {
    problems.add(
      path,
      `has a schema of ${vendor} that cannot say itself in JSON Schema: take zod 4.2 or newer, or withJsonSchema(schema, { … })`,
    );
    return {};
  }
  const target = "draft-2020-12";
  try {
    if (vendor === "zod")
      return zodJsonSchema((libraryOptions) => jsonSchema.input({ target, libraryOptions }), path, problems);
    return jsonSchema.input({ target });
  } catch (error) {
    problems.add(path, `cannot be said in JSON Schema: ${(error as Error).message}`);
    return {};
  }
}

/** Whether a value may be left out: whoever writes no `spec` then leaves none out. */
export function admitsAbsence(schema: CustomResourceSchema): boolean {
  const result = schema["~standard"].validate(undefined);
  if (!(result instanceof Promise)) return result.issues === undefined;
  // Not waited for, and no matter to anybody.
  result.catch(() => {});
  return false;
}
