import { BOOL, BYTES, DOUBLE, DYN, INT, STRING, TIMESTAMP, type Type, listOf, mapOf } from "@kubewright/cel";

import type { ObjectSchema, ScalarType, Schema } from "../schema/schema.js";

const SCALARS: Readonly<Record<ScalarType, Type>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  double: DOUBLE,
  boolean: BOOL,
  time: TIMESTAMP,
  microtime: TIMESTAMP,
  bytes: BYTES,
  intOrString: DYN,
  quantity: STRING,
};

/**
 * Converts the schemas of built-in kinds to CEL types. Converts each schema once. Upstream: `common.SchemaDeclType`.
 */
export class SchemaTypes {
  readonly #objects = new Map<ObjectSchema, Type>();

  of(schema: Schema): Type {
    switch (schema.type) {
      case "object":
        return this.#object(schema);
      case "list":
        return listOf(this.of(schema.item));
      case "map":
        return mapOf(STRING, this.of(schema.value));
      case "scalar":
        return SCALARS[schema.scalar];
      default:
        return DYN;
    }
  }

  #object(schema: ObjectSchema): Type {
    const known = this.#objects.get(schema);
    if (known !== undefined) return known;
    const fields = new Map<string, Type>();
    const type: Type = schema.fields.size === 0 ? DYN : { kind: "object", name: schema.name, fields };
    // Stored before its fields, because types may contain themselves.
    this.#objects.set(schema, type);
    for (const field of schema.fields.values()) fields.set(field.name, this.of(field.schema));
    return type;
  }
}
