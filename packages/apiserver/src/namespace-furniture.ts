import type { DeepReadonly, KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { Change } from "./storage/change.js";
import type { ChangeListener, ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";

/** An object that every namespace has. */
export interface Furniture {
  readonly storage: ResourceStorage;
  readonly name: string;
  /** Whether one that is there is as it should be. Default: it is, whatever is in it. */
  readonly isSound?: (object: DeepReadonly<KubernetesObject>) => boolean;
  /** Makes it, or puts another in place of one that is not sound; or fails without a word. */
  readonly put: (namespace: string, present: StoredObject | undefined) => void;
}

/**
 * Sees to it that every namespace has an object, from the moment after it was made, and again when somebody deletes or spoils
 * it, until the namespace itself is being deleted. Upstream: `pkg/controller/serviceaccount` and
 * `pkg/controller/certificates/rootcacertpublisher`, of kube-controller-manager.
 */
export class NamespaceFurniture implements ChangeListener {
  readonly #clock: Clock;
  readonly #namespaces: ResourceStorage;
  readonly #furniture: Furniture;
  readonly #pending = new Set<string>();

  private constructor(clock: Clock, namespaces: ResourceStorage, furniture: Furniture) {
    this.#clock = clock;
    this.#namespaces = namespaces;
    this.#furniture = furniture;
  }

  static start(clock: Clock, namespaces: ResourceStorage, furniture: Furniture): void {
    new NamespaceFurniture(clock, namespaces, furniture).#start();
  }

  #start(): void {
    for (const { name } of this.#namespaces.list()) this.#furnish(name);
    this.#namespaces.follow(this);
    const { storage, name } = this.#furniture;
    storage.follow({
      onChange: ({ current, subject }) => {
        if (subject.name === name && !this.#isSound(current)) this.#schedule(subject.namespace);
      },
    });
  }

  onChange({ previous, current }: Change): void {
    if (previous === undefined && current !== undefined) this.#schedule(current.name);
  }

  #schedule(namespace: string): void {
    this.#pending.add(namespace);
    if (this.#pending.size > 1) return;
    this.#clock.setTimer(0, () => {
      const names = [...this.#pending];
      this.#pending.clear();
      for (const name of names) this.#furnish(name);
    });
  }

  #furnish(namespace: string): void {
    const stored = this.#namespaces.get("", namespace);
    if (stored === undefined || stored.object.metadata.deletionTimestamp) return;
    const { storage, name, put } = this.#furniture;
    const present = storage.get(namespace, name);
    if (!this.#isSound(present)) put(namespace, present);
  }

  #isSound(present: StoredObject | undefined): boolean {
    if (present === undefined) return false;
    return this.#furniture.isSound?.(present.object) ?? true;
  }
}
