/**
 * A model of `@kubernetes/client-node` as JSON on the wire. Dates are RFC 3339 strings. Members that the generated
 * models had to rename (`_continue`, `x_kubernetes_map_type`, …) have their API names.
 *
 * The mapping exists at compile time only. No client-node code runs, no object is converted, and unknown fields are
 * preserved. The types of this package are such models already; use `Wire` for a model that this package does not have.
 */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T as WireName<Key>]: Wire<T[Key]> }
      : T;

type WireName<Key> = Key extends `x_kubernetes_${infer Rest}`
  ? `x-kubernetes-${Kebab<Rest>}`
  : Key extends `_${infer Rest}`
    ? Rest
    : Key;

type Kebab<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}-${Kebab<Tail>}` : Text;
