import type { KubernetesObject, ObjectMeta } from "@kubewright/api";

/** Any part of `T`; lists are written whole, or, where the server merges them, with parts of their items. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;

/**
 * A JSON merge patch of `T` (RFC 7386): what it names is replaced, what it gives as `null` is removed, lists are replaced
 * whole.
 */
export type MergePatch<T> = T extends readonly (infer Item)[]
  ? readonly MergedWhole<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: MergePatch<T[Key]> | null }
    : T;

/** An item of a list that replaces another list: complete. */
type MergedWhole<T> = T extends readonly (infer Item)[]
  ? readonly MergedWhole<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: MergedWhole<T[Key]> }
    : T;

/** The part of an object that somebody applies, and is to own: which object it is, and the fields that are to be so. */
export type Applied<T extends KubernetesObject> = DeepPartial<
  Omit<T, "metadata" | "status" | "apiVersion" | "kind">
> & {
  readonly metadata: DeepPartial<Omit<ObjectMeta, "name" | "managedFields">> & { readonly name: string };
};
