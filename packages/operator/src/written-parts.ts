import type { KubernetesObject } from "@kubewright/api";
import type { ApplyPatch, MergePatch } from "@kubewright/client";

/** The part of an object that somebody applies, and is to own: which object it is, and the fields that are to be so. */
export type Applied<T extends KubernetesObject> = Omit<ApplyPatch<T>, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** What a merge patch says of the status of an object; nothing can be said for a kind without one. */
export type StatusPatch<T extends KubernetesObject> =
  MergePatch<T> extends infer P
    ? "status" extends keyof P
      ? NonNullable<P["status"]>
      : [keyof P] extends [never]
        ? object
        : never
    : never;
