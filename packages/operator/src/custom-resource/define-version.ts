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
 * What a conversion makes of an object: all but its type. Members that it leaves out stay as they are, unless they are `undefined`;
 * of the metadata only labels and annotations change.
 */
export type Converted<T extends KubernetesObject> = Omit<T, "apiVersion" | "kind" | "metadata"> & {
  metadata?: Pick<ObjectMeta, "labels" | "annotations">;
};

/** Ways between a version and the one that is stored. There and back, nothing may be lost. */
export interface VersionConversion<T extends KubernetesObject, Stored extends KubernetesObject> {
  toStored(object: T): Converted<Stored>;
  fromStored(stored: Stored): Converted<T>;
}

/** A version that is served beside the one that is stored. */
export interface OtherVersion<
  T extends KubernetesObject = KubernetesObject,
  Input = unknown,
  Stored extends KubernetesObject = KubernetesObject,
> extends CustomResourceVersion<T, Input> {
  readonly stored: CustomResource<Stored>;
  /** Absent: what both have is spelled the same, and nothing but `apiVersion` changes. */
  readonly conversion?: VersionConversion<T, Stored> | undefined;
}

/**
 * Another version of a custom resource, of the same names.
 *
 * @param stored - The version that is stored.
 * @param options - With `toStored` and `fromStored` it is converted by a webhook: `conversionWebhook`.
 * @throws CustomResourceError for what no CustomResourceDefinition can say.
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
): OtherVersion<CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>, CustomResourceInput<InputOf<Spec>>, Stored> {
  if ((toStored === undefined) !== (fromStored === undefined))
    throw new Error(`${stored.kind} ${options.version} needs both toStored and fromStored, or neither`);
  const conversion = toStored === undefined || fromStored === undefined ? undefined : { toStored, fromStored };
  return { ...makeVersion(stored.names, options), stored, conversion };
}
