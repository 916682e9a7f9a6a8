import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

/** A way to find objects in the cache: by the values that a function has for them. */
export interface IndexDefinition<T extends KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** Tells it from other indexes of the resource. */
  readonly name: string;
  /** Pure: called once for each version of an object. */
  readonly valuesOf: (object: DeepReadonly<T>) => readonly string[];
}

/**
 * Defines an index, for {@link Cache.byIndex} and {@link indexedBy}. Make it once, beside the definition of the resource: it
 * is built where it is first used.
 *
 * @throws Error when the name is empty.
 */
export function defineIndex<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  name: string,
  valuesOf: (object: DeepReadonly<T>) => readonly string[],
): IndexDefinition<T> {
  if (name === "") throw new Error(`an index of ${definition.resource} needs a name`);
  return { definition, name, valuesOf };
}
