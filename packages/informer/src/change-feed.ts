import { type DeepReadonly, type KubernetesObject, compareResourceVersions, qualifiedResource } from "@kubewright/api";

import { InformerError } from "./informer-error.js";
import { keyOfObject, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorOptions } from "./reflector.js";

/** `LISTED`: it is new or has changed, and which of the two was missed; or it was there at the start. */
export type ChangeType = "ADDED" | "MODIFIED" | "LISTED";

/** Told of an object as it is. Called synchronously and in order; what it throws is reported. */
export type ChangeListener<T extends KubernetesObject> = (type: ChangeType, object: DeepReadonly<T>) => void;

/**
 * Tells of every object of one resource that comes or changes, and keeps none: an informer for those who only want to
 * hear. Deletions are not told. After a gap it tells of what is newer than all that it has told of, going by
 * resourceVersion.
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
