import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

import type { Problems, SchemaPath } from "./schema-problem.js";
import type { JsonSchema } from "./translate.js";
import { zodJsonSchema } from "./zod.js";

/**
 * A schema that validates (Standard Schema) and converts to JSON Schema (Standard JSON Schema), as those of zod 4.2 and
 * arktype 2.1.28 or newer do. {@link withJsonSchema} creates one from any other.
 */
export interface CustomResourceSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

export type InputOf<Schema extends CustomResourceSchema> = StandardSchemaV1.InferInput<Schema>;
export type OutputOf<Schema extends CustomResourceSchema> = StandardSchemaV1.InferOutput<Schema>;

/**
 * Combines a schema of any library with its JSON Schema (draft 2020-12 or 07), for libraries that cannot convert
 * themselves. The two are not compared.
 */
export function withJsonSchema<Input, Output>(
  schema: StandardSchemaV1<Input, Output>,
  jsonSchema: JsonSchema,
): CustomResourceSchema<Input, Output> {
  const copyOfSchema = (): Record<string, unknown> => ({ ...jsonSchema });
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: copyOfSchema, output: copyOfSchema } } };
}

/** JSON Schema of a schema's input. Losses that the library reports are added to `problems`. */
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

/** Whether the schema accepts `undefined`: then `spec` is not required. */
export function admitsAbsence(schema: CustomResourceSchema): boolean {
  const result = schema["~standard"].validate(undefined);
  if (!(result instanceof Promise)) return result.issues === undefined;
  // The asynchronous result is not used.
  result.catch(() => {});
  return false;
}
