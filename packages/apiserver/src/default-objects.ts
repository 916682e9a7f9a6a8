import type { DeepReadonly, KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { pendingNames } from "./pending-names.js";
import type { Change } from "./storage/change.js";
import type { ChangeListener, ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";

/** An object that the server creates in every namespace. */
export interface DefaultObject {
  readonly storage: ResourceStorage;
  readonly name: string;
  /** Whether an existing object is up to date. Default: every existing object is. */
  readonly isUpToDate?: (object: DeepReadonly<KubernetesObject>) => boolean;
  /** Creates the object, or replaces one that is not up to date. Ignores errors. */
  readonly createOrReplace: (namespace: string, existing: StoredObject | undefined) => void;
}

/**
 * Creates an object in every namespace right after the namespace is created. Restores it when it is deleted or changed,
 * until the namespace itself is deleted. Upstream: `pkg/controller/serviceaccount` and
 * `pkg/controller/certificates/rootcacertpublisher` of kube-controller-manager.
 */
export class DefaultObjects implements ChangeListener {
  readonly #namespaces: ResourceStorage;
  readonly #defaultObject: DefaultObject;
  readonly #schedule: (namespace: string) => void;

  private constructor(clock: Clock, namespaces: ResourceStorage, defaultObject: DefaultObject) {
    this.#namespaces = namespaces;
    this.#defaultObject = defaultObject;
    this.#schedule = pendingNames(clock, (namespace) => this.#ensure(namespace));
  }

  static start(clock: Clock, namespaces: ResourceStorage, defaultObject: DefaultObject): void {
    new DefaultObjects(clock, namespaces, defaultObject).#start();
  }

  #start(): void {
    for (const { name } of this.#namespaces.list()) this.#ensure(name);
    this.#namespaces.follow(this);
    const { storage, name } = this.#defaultObject;
    storage.follow({
      onChange: ({ current, subject }) => {
        if (subject.name === name && !this.#isUpToDate(current)) this.#schedule(subject.namespace);
      },
    });
  }

  onChange({ previous, current }: Change): void {
    if (previous === undefined && current !== undefined) this.#schedule(current.name);
  }

  #ensure(namespace: string): void {
    const stored = this.#namespaces.get("", namespace);
    if (stored === undefined || stored.object.metadata.deletionTimestamp) return;
    const { storage, name, createOrReplace } = this.#defaultObject;
    const existing = storage.get(namespace, name);
    if (!this.#isUpToDate(existing)) createOrReplace(namespace, existing);
  }

  #isUpToDate(existing: StoredObject | undefined): boolean {
    if (existing === undefined) return false;
    return this.#defaultObject.isUpToDate?.(existing.object) ?? true;
  }
}
