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

/** A custom resource in the version that is stored. */
export interface CustomResource<
  T extends KubernetesObject = KubernetesObject,
  Input = unknown,
> extends CustomResourceVersion<T, Input> {
  /** Its CustomResourceDefinition, with this version alone. {@link definitionOf} has one with others. */
  readonly crd: CustomResourceDefinition;
}

export interface CustomResourceOptions<Spec extends CustomResourceSchema, Status extends CustomResourceSchema>
  extends CustomResourceNames, VersionOptions<Spec, Status> {}

/**
 * A custom resource from one source: its type, its definition, and its CustomResourceDefinition.
 *
 * @throws CustomResourceError for what no CustomResourceDefinition can say, with the place and what to write instead.
 */
export function defineCustomResource<
  Spec extends CustomResourceSchema,
  Status extends CustomResourceSchema = CustomResourceSchema<never>,
>(
  options: CustomResourceOptions<Spec, Status>,
): CustomResource<CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>, CustomResourceInput<InputOf<Spec>>> {
  const version = makeVersion(resourceNames(options), options);
  return { ...version, crd: definitionOf(version) };
}
