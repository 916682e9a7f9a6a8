import type { KubernetesObject } from "@kubewright/api";

import { type Awaitable, andThen } from "./awaitable.js";
import type { ServedResource } from "./served-resource.js";
import { StoredObject } from "./storage/stored-object.js";
import { presenterFor } from "./stored-versions.js";

/**
 * Converts each stored object once for all watchers of a version, as upstream's watch cache does. The result is cached
 * as long as the object is in memory.
 */
export class WatchConversionCache {
  readonly #known = new WeakMap<ServedResource, WeakMap<StoredObject, Awaitable<StoredObject>>>();

  /**
   * Returns the objects in the version of the resource, in order.
   *
   * @throws ApiError 500 when an object cannot be converted.
   */
  of(resource: ServedResource, objects: readonly StoredObject[]): Awaitable<readonly StoredObject[]> {
    let known = this.#known.get(resource);
    if (known === undefined) this.#known.set(resource, (known = new WeakMap()));
    const unknown = objects.filter((stored) => !known.has(stored));
    if (unknown.length > 0) convert(resource, unknown, known);
    const found = objects.map((stored) => known.get(stored)!);
    return found.some((each) => each instanceof Promise)
      ? Promise.all(found.map((each) => Promise.resolve(each)))
      : (found as readonly StoredObject[]);
  }
}

function convert(
  resource: ServedResource,
  objects: readonly StoredObject[],
  known: WeakMap<StoredObject, Awaitable<StoredObject>>,
): void {
  const converted = andThen(presenterFor(resource, objects), (show) => {
    for (const stored of objects) known.set(stored, withObject(stored, show(stored)));
  });
  if (!(converted instanceof Promise)) return;
  for (const stored of objects) {
    const later = converted.then(
      () => known.get(stored)!,
      (error: unknown) => {
        // Not cached: later callers retry the conversion.
        known.delete(stored);
        throw error;
      },
    );
    known.set(stored, later);
  }
}

function withObject({ resourceVersion, size }: StoredObject, object: KubernetesObject): StoredObject {
  return new StoredObject(object, resourceVersion, size);
}
