import type { ValidatedValues } from "./validated-values.js";

/**
 * Schema of a type: sufficient to decode requests, merge patches, track field ownership and describe the type to
 * clients.
 */
export type Schema = ObjectSchema | MapSchema | ListSchema | ScalarSchema | AnySchema;

/** The field that followed in the previously decoded object: usually it follows in the next one, too. */
export interface FieldOrderHint {
  next?: FieldSchema | undefined;
}

export interface ObjectSchema extends FieldOrderHint {
  readonly type: "object";
  /** Name of the type in errors: `JobSpec`. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Fields that are written even when the client omitted them, as Go does for struct values without `omitempty`. */
  readonly alwaysPresent: readonly FieldSchema[];
  /** The whole value has one owner (`x-kubernetes-map-type: atomic`). */
  readonly atomic: boolean;
  /** Values that need no decoding. Default: every value is decoded. */
  readonly validatedValues?: ValidatedValues;
  /**
   * Whether undeclared members are kept (`x-kubernetes-preserve-unknown-fields`). Default: they are dropped and
   * reported as unknown.
   */
  readonly preservesUnknown?: boolean;
}

export interface FieldSchema extends FieldOrderHint {
  readonly name: string;
  readonly required: boolean;
  /**
   * Whether `""`, `0`, `false`, `[]` and `{}` count as absent and are dropped (Go's `omitempty` on a value that is no
   * pointer).
   */
  readonly dropsZero: boolean;
  /** Value written for an absent field; `undefined`: the field stays absent. */
  readonly zero: unknown;
  /** Strategic merge: whether a patch replaces the object (`patchStrategy: replace`). Default: it merges. */
  readonly replaces?: boolean;
  readonly schema: Schema;
}

export interface MapSchema {
  readonly type: "map";
  readonly value: Schema;
  readonly atomic: boolean;
}

export interface ListSchema {
  readonly type: "list";
  readonly item: Schema;
  /** Strategic merge: absent means the list is replaced as a whole; `mergeKey` is absent for lists of primitives. */
  readonly merge?: { readonly mergeKey?: string; readonly retainKeys: boolean };
  /** Server-side apply: elements of `map` lists are identified by `keys`. */
  readonly listType: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  /** Defaults of keys that an element omits. */
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
}

export type ScalarType =
  "string" | "int32" | "int64" | "double" | "boolean" | "time" | "microtime" | "bytes" | "intOrString" | "quantity";

export interface ScalarSchema {
  readonly type: "scalar";
  readonly scalar: ScalarType;
}

export interface AnySchema {
  readonly type: "any";
}

export const anySchema: AnySchema = { type: "any" };
