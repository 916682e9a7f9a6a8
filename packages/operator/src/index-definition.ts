import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

/** An index of the cache: finds objects by the values that a function returns for them. */
export interface IndexDefinition<T extends KubernetesObject> {
  readonly definition: ResourceDefinition<T>;
  /** Unique among the indexes of the resource. */
  readonly name: string;
  /** Must be pure: it is called once for each version of an object. */
  readonly valuesOf: (object: DeepReadonly<T>) => readonly string[];
}

/**
 * Defines an index, for {@link Cache.byIndex} and {@link indexedBy}. Define it once, next to the resource definition.
 * It is built on first use.
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
