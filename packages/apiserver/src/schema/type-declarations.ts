/**
 * Types of the API, declared where they are needed: the ones that most kinds share in this folder, those of one kind in
 * its own. A type is declared once; where two declare the same one, the first holds.
 */
export interface TypeDeclarations {
  /**
   * Fields by type: `name:type`, `!` after the name of a required one, `[]` and `{}` before the type of a list's or map's
   * members. Written by `scripts/generate-schema.mjs`.
   */
  readonly fields: Readonly<Record<string, string>>;
  readonly rules?: FieldRules;
  /** Types of kinds that are not named like their kind, as two kinds have that name: `events.k8s.io/v1/Event`. */
  readonly kinds?: Readonly<Record<string, string>>;
  /** Numbers of the fields in protobuf, in the form of `protobuf/field-numbers.ts`. A kind without is not taken as protobuf. */
  readonly fieldNumbers?: Readonly<Record<string, string>>;
}

/**
 * What the types say beyond names and types: how lists merge, which values have one owner, and which fields Go writes or
 * leaves out when they are zero. Keys are `Type.field`, of the types declared along with them.
 *
 * Upstream: the `patchStrategy`, `patchMergeKey`, `listType`, `listMapKey`, `structType` and `json` tags of
 * `k8s.io/api` and `k8s.io/apimachinery`.
 */
export interface FieldRules {
  /** Strategic merge. `""`: a list of primitives; a trailing `!` means the strategy `merge,retainKeys`. */
  readonly patchMergeKeys?: Readonly<Record<string, string>>;
  /** Strategic merge: objects that take the place of the ones before. */
  readonly replacedObjects?: ReadonlySet<string>;
  /** Server-side apply: keys of map lists, separated by commas; `set` for sets. Every other list is atomic. */
  readonly listTypes?: Readonly<Record<string, string>>;
  /** Values of list keys that an element may leave out. */
  readonly keyDefaults?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Types whose value has one owner as a whole. */
  readonly atomicTypes?: ReadonlySet<string>;
  /** Maps whose value has one owner as a whole. */
  readonly atomicMaps?: ReadonlySet<string>;
  /** Fields of type string (or map of string) that hold quantities. */
  readonly quantityFields?: ReadonlySet<string>;
  /** Written even when the client left them out, with the value they then have. */
  readonly presentWhenZero?: Readonly<Record<string, unknown>>;
  /** Booleans and numbers that are plain values with `omitempty`: `false` and `0` are dropped. */
  readonly dropsZero?: ReadonlySet<string>;
  /** Strings that are pointers, or have no `omitempty`: `""` is a value of its own. */
  readonly keepsEmptyString?: ReadonlySet<string>;
  /** Lists and maps that are pointers or have no `omitempty`: an empty one stays. */
  readonly keepsEmptyCollection?: ReadonlySet<string>;
}
