import { type DeepReadonly, type KubernetesObject, compareResourceVersions, qualifiedResource } from "@kubewright/api";

import { InformerError } from "./informer-error.js";
import { keyOfObject, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorOptions } from "./reflector.js";

/** `LISTED`: the object existed at the start, or was added or changed while the watch was interrupted. */
export type ChangeType = "ADDED" | "MODIFIED" | "LISTED";

/** Called with the current state of an object, synchronously and in order. Errors it throws are reported. */
export type ChangeListener<T extends KubernetesObject> = (type: ChangeType, object: DeepReadonly<T>) => void;

/**
 * Delivers every object of one resource that exists, is added or changes, and stores none: an informer without a cache.
 * Does not deliver deletions. After a gap it delivers the objects whose resourceVersion is newer than all versions
 * delivered before.
 */
export class ChangeFeed<T extends KubernetesObject> {
  readonly #reflector: Reflector<T>;

  constructor(options: Omit<ReflectorOptions<T>, "target">, listener: ChangeListener<T>) {
    const notify = (type: ChangeType, object: DeepReadonly<T>): void => {
      try {
        listener(type, object);
      } catch (error) {
        const what = `a listener failed to take in ${qualifiedResource(options.client.definition)}`;
        options.onError(new InformerError("handler", `${what} ${JSON.stringify(keyOfObject(object))}`, error));
      }
    };
    this.#reflector = new Reflector({
      ...options,
      target: {
        replace: (objects) => {
          const last = this.#reflector.lastSyncResourceVersion;
          for (const object of objects)
            if ((compareResourceVersions(resourceVersionOf(object), last) ?? 1) > 0) notify("LISTED", object);
        },
        apply: (type, object) => {
          if (type !== "DELETED") notify(type, object);
        },
        bookmark: () => {},
        resync: () => {},
      },
    });
  }

  /** Lists and watches until `signal` aborts, then resolves. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }
}
