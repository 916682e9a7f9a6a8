import type { ValidatedValues } from "./validated-values.js";

/**
 * What the server knows of a type's shape: enough to decode a request, merge patches, track field ownership and describe
 * the type to clients.
 */
export type Schema = ObjectSchema | MapSchema | ListSchema | ScalarSchema | AnySchema;

/** Remembers which field came next in the object decoded last: it mostly is the next one's, too. */
export interface FieldOrderHint {
  next?: FieldSchema | undefined;
}

export interface ObjectSchema extends FieldOrderHint {
  readonly type: "object";
  /** Name as errors print it: `JobSpec`. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Fields that are written even when the client left them out, as Go's struct values without `omitempty` are. */
  readonly alwaysPresent: readonly FieldSchema[];
  /** The whole value has one owner (`x-kubernetes-map-type: atomic`). */
  readonly atomic: boolean;
  /** Default: every value is decoded. */
  readonly validatedValues?: ValidatedValues;
  /** Undeclared members are kept (`x-kubernetes-preserve-unknown-fields`). Default: dropped, and reported as unknown. */
  readonly preservesUnknown?: boolean;
}

export interface FieldSchema extends FieldOrderHint {
  readonly name: string;
  readonly required: boolean;
  /** `""`, `0`, `false`, `[]` and `{}` mean the same as absence, and are dropped (Go's `omitempty` on a value that is no pointer). */
  readonly dropsZero: boolean;
  /** What an absent field is written as; `undefined`: it stays absent. */
  readonly zero: unknown;
  /** Strategic merge: an object takes the place of the one before (`patchStrategy: replace`). Default: they merge. */
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
  /** Server-side apply: `map` lists are told apart by `keys`. */
  readonly listType: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  /** Values of keys that an element leaves out. */
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
