import { type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";

import type { CustomResourceSchema, InputOf, OutputOf } from "./custom-resource-schema.js";
import type { ResourceNames } from "./names.js";
import type { StructuralSchema } from "./structural-schema.js";
import {
  type CustomResourceColumns,
  type VersionOptions,
  type VersionSubresources,
  versionSchema,
} from "./version-schema.js";

/** An object of a custom resource, as it is read: with defaults applied. */
export type CustomResourceObject<Spec, Status> = KubernetesObject &
  (undefined extends Spec ? { spec?: Spec } : { spec: Spec }) & { status?: Status };

/** An object of a custom resource, as it may be written: fields with defaults are optional. */
export type CustomResourceInput<Spec, Status = unknown> = CustomResourceObject<Spec, Status>;

/** The object type of a definition: `type Backup = ObjectOf<typeof backups>`. */
export type ObjectOf<Definition extends ResourceDefinition> = NonNullable<Definition["objectType"]>;

/**
 * One version of a custom resource: the resource definition for clients and caches, and its part of the
 * CustomResourceDefinition.
 */
export interface CustomResourceVersion<
  T extends KubernetesObject = KubernetesObject,
  Input = unknown,
> extends ResourceDefinition<T, Input> {
  /** Names that all versions share. */
  readonly names: ResourceNames;
  /** The schema with which the API server validates objects and applies defaults. */
  readonly openAPIV3Schema: StructuralSchema;
  readonly served: boolean;
  readonly deprecated: boolean | string;
  readonly subresources: VersionSubresources;
  readonly printerColumns: CustomResourceColumns;
  readonly selectableFields: readonly string[];
  /**
   * Returns the object as the API server would store it, with `apiVersion`, `kind` and defaults.
   *
   * @throws Error with every field that the schema rejects.
   */
  make(input: Input): T;
}

/** Creates a version of a custom resource with complete names. */
export function makeVersion<Spec extends CustomResourceSchema, Status extends CustomResourceSchema>(
  names: ResourceNames,
  options: VersionOptions<Spec, Status>,
): CustomResourceVersion<
  CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>,
  CustomResourceInput<InputOf<Spec>, InputOf<Status>>
> {
  const { group, kind, plural, scope } = names;
  const { version, spec, served = true, deprecated = false, selectableFields = [] } = options;
  const { schema, subresources, printerColumns } = versionSchema(kind, options);
  const definition = { group, version, resource: plural, kind, namespaced: scope === "Namespaced" };
  type T = CustomResourceObject<OutputOf<Spec>, OutputOf<Status>>;
  return {
    ...definition,
    names,
    openAPIV3Schema: schema,
    served,
    deprecated,
    subresources,
    printerColumns,
    selectableFields,
    make: (input) => {
      const { spec: given, ...rest } = input;
      const checked = checkedSpec(kind, spec, given);
      const object = {
        apiVersion: apiVersionOf(definition),
        kind,
        ...rest,
        ...(checked === undefined ? {} : { spec: checked }),
      };
      return object as unknown as T;
    },
  };
}

function checkedSpec(kind: string, schema: CustomResourceSchema, spec: unknown): unknown {
  const result = schema["~standard"].validate(spec);
  if (result instanceof Promise)
    throw new Error(`${kind}: spec has a schema that takes its time: make() needs one without promises`);
  if (result.issues === undefined) return result.value;
  const problems = result.issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === "object" ? step.key : step));
    return `${["spec", ...steps].map(String).join(".")}: ${message}`;
  });
  throw new Error(`${kind}: ${problems.join("; ")}`);
}
