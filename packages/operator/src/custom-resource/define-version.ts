import type { KubernetesObject, ObjectMeta } from "@kubewright/api";

import type { CustomResource } from "./custom-resource.js";
import type { CustomResourceSchema, InputOf, OutputOf } from "./custom-resource-schema.js";
import {
  type CustomResourceInput,
  type CustomResourceObject,
  type CustomResourceVersion,
  makeVersion,
} from "./custom-resource-version.js";
import type { VersionOptions } from "./version-schema.js";

/**
 * Result of a conversion, without `apiVersion` and `kind`. Missing fields keep their values, fields that are
 * `undefined` are removed. Of the metadata only labels and annotations change.
 */
export type Converted<T extends KubernetesObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  metadata?: Pick<ObjectMeta, "labels" | "annotations">;
};

/** Conversions between a version and the storage version. A round trip must not lose data. */
export interface VersionConversion<T extends KubernetesObject, Stored extends KubernetesObject> {
  toStored(object: T): Converted<Stored>;
  fromStored(stored: Stored): Converted<T>;
}

/** A version that is served in addition to the storage version. */
export interface OtherVersion<
  T extends KubernetesObject = KubernetesObject,
  Input = unknown,
  Stored extends KubernetesObject = KubernetesObject,
> extends CustomResourceVersion<T, Input> {
  readonly stored: CustomResource<Stored>;
  /** Absent: the versions share all field names, and only `apiVersion` changes. */
  readonly conversion?: VersionConversion<T, Stored> | undefined;
}

/**
 * Defines another version of a custom resource, with the same names.
 *
 * @param stored - The storage version.
 * @param options - With `toStored` and `fromStored` a webhook converts the version: `conversionWebhook`.
 * @throws CustomResourceError for anything that a CustomResourceDefinition cannot express.
 */
export function defineVersion<
  Stored extends KubernetesObject,
  Spec extends CustomResourceSchema,
  Status extends CustomResourceSchema = CustomResourceSchema<never>,
>(
  stored: CustomResource<Stored>,
  {
    toStored,
    fromStored,
    ...options
  }: VersionOptions<Spec, Status> &
    Partial<VersionConversion<CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>, NoInfer<Stored>>>,
): OtherVersion<
  CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>,
  CustomResourceInput<InputOf<Spec>, InputOf<Status>>,
  Stored
> {
  if ((toStored === undefined) !== (fromStored === undefined))
    throw new Error(`${stored.kind} ${options.version} needs both toStored and fromStored, or neither`);
  const conversion = toStored === undefined || fromStored === undefined ? undefined : { toStored, fromStored };
  return { ...makeVersion(stored.names, options), stored, conversion };
}
