import type { KubernetesObject } from "@kubewright/api";

/**
 * One version of one object, as the store keeps it and everybody shares it. Never changed: a write makes a new one. What
 * it looks like in a list and as JSON is made once, when first asked for.
 */
export class StoredObject {
  #listItem: KubernetesObject | undefined;
  #members: string | undefined;

  constructor(
    readonly object: KubernetesObject,
    /** `""` for cluster-scoped objects. */
    readonly namespace: string,
    readonly name: string,
    readonly resourceVersion: number,
    /** What is kept differs from what is shown: an update that changes nothing else still writes. */
    readonly hasUnstoredDefaults = false,
  ) {}

  /** The object without `apiVersion` and `kind`, as typed lists carry it. */
  get listItem(): KubernetesObject {
    if (this.#listItem === undefined) {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = this.object;
      this.#listItem = Object.isFrozen(this.object) ? Object.freeze(rest) : rest;
    }
    return this.#listItem;
  }

  /** The whole object as JSON. */
  get json(): string {
    const { apiVersion, kind } = this.object;
    return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},${this.#memberText.slice(1)}`;
  }

  /** {@link listItem} as JSON. */
  get listItemJson(): string {
    return this.#memberText;
  }

  get #memberText(): string {
    return (this.#members ??= JSON.stringify(this.listItem));
  }

  /** The same content under another resourceVersion: what a watcher is told when it sees the object last. */
  withResourceVersion(resourceVersion: number): StoredObject {
    const object: KubernetesObject = {
      ...this.object,
      metadata: { ...this.object.metadata, resourceVersion: String(resourceVersion) },
    };
    if (Object.isFrozen(this.object)) Object.freeze(Object.freeze(object).metadata);
    return new StoredObject(object, this.namespace, this.name, resourceVersion);
  }
}
