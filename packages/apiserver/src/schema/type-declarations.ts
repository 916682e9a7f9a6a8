/**
 * Declarations of API types. Types that most kinds share are declared in this folder, types of one kind in the kind's
 * folder. If two declare the same type, the first one is used.
 */
export interface TypeDeclarations {
  /**
   * Fields by type, separated by spaces, in the order of their protobuf numbers: the first field has number 1.
   *
   * - `-`: a number without a field.
   * - `|`: the fields behind it have no number. A kind without numbers is not accepted as protobuf.
   * - `~Type`: a message of that type whose fields belong to the outer type in JSON (Go's inlined structs).
   * - `name`, marks, and `:` with a type: a field. Its default type is `string`.
   *
   * Marks, in this order:
   *
   * - `!`: the field is required.
   * - `+`: the field is written even when the client omitted it, with the zero value of its type (no `omitempty` in Go).
   * - `*`: the field is a pointer, or has no `omitempty`: an empty string, list or map is kept, and zero is `null`.
   * - `?`: `false` and `0` are dropped (no pointer, and `omitempty`).
   * - `=`: a strategic merge patch replaces the object (`patchStrategy: replace`). Default: it merges.
   *
   * Types are scalars, `any`, other declared types, maps and lists:
   *
   * - `{}T` and `{atomic}T`: a map with values of type T; an atomic map has one owner.
   * - `[]T`: a list that patches replace, and that has one owner.
   * - `[key]T`, `[key1,key2=default]T`: a list with these keys (`listMapKey`). Strategic merge uses the first key. An
   *   element may omit a key with a default.
   * - `[key!]T`: the same with the patch strategy `merge,retainKeys`.
   * - `[set]T`: a list of primitives that is a set.
   * - `[patch:…]T`: keys for strategic merge alone. `[apply:…]T`: keys for server-side apply alone.
   *
   * Upstream: the Go structs of k8s.io/api and k8s.io/apimachinery, with the tags `json`, `protobuf`, `patchStrategy` and
   * `patchMergeKey`, and the markers `listType`, `listMapKey`, `mapType` and `structType`.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** Types whose value has one owner (`structType=atomic`). */
  readonly atomicTypes?: ReadonlySet<string>;
  /** Type names of kinds whose name is not unique: `events.k8s.io/v1/Event`. */
  readonly kinds?: Readonly<Record<string, string>>;
}
