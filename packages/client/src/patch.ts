import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

/** A change of an object, in one of the four patch formats of the API server. */
export type Patch<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly body: MergePatch<T> }
  | { readonly type: "strategic"; readonly body: StrategicMergePatch<T> }
  | { readonly type: "apply"; readonly body: ApplyPatch<T> };

/** One operation of a JSON Patch (RFC 6902). Paths are JSON pointers, such as `/spec/suspend`. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** A JSON Merge Patch (RFC 7396): members to set, and `null` for members to remove. Lists are replaced as a whole. */
export type MergePatch<T extends KubernetesObject> = IsUntyped<T> extends true ? object : Merge<T>;

/**
 * Like a merge patch, but lists with a merge key are merged by that key, and objects can have directives: `$patch`,
 * `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`. For built-in kinds only.
 */
export type StrategicMergePatch<T extends KubernetesObject> = IsUntyped<T> extends true ? object : Strategic<T>;

/** The body of a server-side apply: the members that the field manager owns, with the kind of the object. */
export type ApplyPatch<T extends KubernetesObject> =
  IsUntyped<T> extends true ? object : Applied<T> & { readonly apiVersion: string; readonly kind: string };

/** Whether the type declares no members besides metadata. */
type IsUntyped<T> = keyof T extends keyof KubernetesObject ? true : string extends keyof T ? true : false;

type Merge<T> = T extends readonly unknown[]
  ? DeepReadonly<T>
  : T extends object
    ? { readonly [Key in keyof T]?: Merge<T[Key]> | null | undefined }
    : T;

type Strategic<T> = T extends readonly (infer Item)[]
  ? readonly (Strategic<Item> | ListDirective)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Strategic<T[Key]> | null | undefined } & Directives<T>
    : T;

interface ListDirective {
  readonly $patch: "replace";
}

type Directives<T> = {
  readonly $patch?: "replace" | "merge" | "delete";
  readonly $retainKeys?: readonly (keyof T)[];
} & {
  readonly [
    Key in keyof Lists<T> & string as `$setElementOrder/${Key}` | `$deleteFromPrimitiveList/${Key}`
  ]?: readonly unknown[];
};

type Lists<T> = {
  [Key in keyof T as NonNullable<T[Key]> extends readonly unknown[] ? Key : never]: T[Key];
};

type Applied<T> = T extends readonly (infer Item)[]
  ? readonly Applied<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Applied<T[Key]> | undefined }
    : T;
