import type { CustomResourceDefinition, KubernetesObject } from "@kubewright/api";

import type { CustomResourceSchema, InputOf, OutputOf } from "./custom-resource-schema.js";
import {
  type CustomResourceInput,
  type CustomResourceObject,
  type CustomResourceVersion,
  makeVersion,
} from "./custom-resource-version.js";
import { definitionOf } from "./definition.js";
import { type CustomResourceNames, resourceNames } from "./names.js";
import type { VersionOptions } from "./version-schema.js";

/** A custom resource in its storage version. */
export interface CustomResource<
  T extends KubernetesObject = KubernetesObject,
  Input = unknown,
> extends CustomResourceVersion<T, Input> {
  /** The CustomResourceDefinition with this version only. {@link definitionOf} creates one with further versions. */
  readonly crd: CustomResourceDefinition;
}

export interface CustomResourceOptions<Spec extends CustomResourceSchema, Status extends CustomResourceSchema>
  extends CustomResourceNames, VersionOptions<Spec, Status> {}

/**
 * Defines a custom resource from one source: its TypeScript type, its resource definition, and its
 * CustomResourceDefinition.
 *
 * @throws CustomResourceError for anything that a CustomResourceDefinition cannot express, with the path and an
 * alternative.
 */
export function defineCustomResource<
  Spec extends CustomResourceSchema,
  Status extends CustomResourceSchema = CustomResourceSchema<never>,
>(
  options: CustomResourceOptions<Spec, Status>,
): CustomResource<
  CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>,
  CustomResourceInput<InputOf<Spec>, InputOf<Status>>
> {
  const version = makeVersion(resourceNames(options), options);
  return { ...version, crd: definitionOf(version) };
}
