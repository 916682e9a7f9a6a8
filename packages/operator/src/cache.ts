import {
  type DeepReadonly,
  type KubernetesObject,
  type LabelSelector,
  type ResourceDefinition,
  getControllerOf,
  labelSelectorMatcher,
  objectKey,
  qualifiedResource,
} from "@kubewright/api";
import { type IndexFunction, type InformerStore, type SharedInformer, namespaceIndex } from "@kubewright/informer";

import type { Caches } from "./caches.js";
import { type IndexDefinition, defineIndex } from "./index-definition.js";

export interface CacheListOptions {
  /** Default: all cached namespaces. */
  readonly namespace?: string | undefined;
  /** Default: all objects. */
  readonly labelSelector?: LabelSelector | undefined;
}

const CONTROLLER_UID = "controller uid";

/**
 * Read access to an operator's informers. Every read is synchronous and returns shared objects that must not be
 * modified (`mutableCopy` of `@kubewright/api` creates a copy that may be). Before a key is reconciled, the cache shows
 * the writes of earlier reconciles of that key. Writes of the current reconcile appear later.
 *
 * Every method throws an Error for a resource that no controller of the operator watches or reads.
 */
export class Cache {
  readonly #caches: Caches;

  constructor(caches: Caches) {
    this.#caches = caches;
  }

  /**
   * Returns an object, or `undefined` if the cache does not have it: it does not exist, or a narrowing does
   * not select it. `get` of the client shows which.
   *
   * @param namespace - Required for namespaced resources.
   * @throws Error when the namespace is missing.
   */
  get<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    name: string,
    namespace?: string,
  ): DeepReadonly<T> | undefined {
    if (definition.namespaced && !namespace)
      throw new Error(`${qualifiedResource(definition)} ${JSON.stringify(name)} is read without its namespace`);
    const key = objectKey({ name, namespace: definition.namespaced ? namespace : undefined });
    for (const { store } of this.#caches.informersOf(definition)) {
      const object = store.get(key);
      if (object !== undefined) return object;
    }
    return undefined;
  }

  /**
   * Lists objects of a resource.
   *
   * @throws Error for a selector with an unknown operator.
   */
  list<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    { namespace = "", labelSelector }: CacheListOptions = {},
  ): readonly DeepReadonly<T>[] {
    const objects = this.#caches.informersOf(definition).flatMap(({ store }) => store.listNamespace(namespace));
    if (labelSelector === undefined) return objects;
    const matches = labelSelectorMatcher(labelSelector);
    return objects.filter(({ metadata }) => matches(metadata.labels));
  }

  /** The objects with this index value. */
  byIndex<T extends KubernetesObject>(
    { definition, name, valuesOf }: IndexDefinition<T>,
    value: string,
  ): readonly DeepReadonly<T>[] {
    return this.#caches
      .informersOf(definition)
      .flatMap((informer) => withIndex(informer, name, valuesOf).byIndex(name, value));
  }

  /** The objects of a resource that `owner` controls, by its UID. */
  controlledBy<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    owner: DeepReadonly<KubernetesObject>,
  ): readonly DeepReadonly<T>[] {
    return this.byIndex(defineIndex(definition, CONTROLLER_UID, controllerUid), owner.metadata.uid ?? "");
  }
}

function controllerUid(object: DeepReadonly<KubernetesObject>): readonly string[] {
  const controller = getControllerOf(object);
  return controller === undefined ? [] : [controller.uid];
}

/**
 * Adds an index to an informer. The same function may be added again; another function with the same name is an error.
 */
function withIndex<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): InformerStore<T, string> {
  if (name === namespaceIndex) throw new Error(`there is an index ${JSON.stringify(name)} already: name it otherwise`);
  return informer.addIndexers({ [name]: valuesOf });
}
