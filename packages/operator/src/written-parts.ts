import type { KubernetesObject } from "@kubewright/api";
import type { ApplyPatch, MergePatch } from "@kubewright/client";

/** The applied part of an object: its name, and the fields that the field manager owns. */
export type Applied<T extends KubernetesObject> = Omit<ApplyPatch<T>, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** A merge patch of an object's status; `never` for a kind without status. */
export type StatusPatch<T extends KubernetesObject> =
  MergePatch<T> extends infer P
    ? "status" extends keyof P
      ? NonNullable<P["status"]>
      : [keyof P] extends [never]
        ? object
        : never
    : never;
