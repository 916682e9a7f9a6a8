import type { Clock } from "@kubewright/clock";

import type { Change } from "./storage/change.js";
import { type ChangeListener, type ResourceStorage, storageKey } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";

/**
 * Removes objects a fixed time after their last write, as kube-apiserver does with Events. Uses one timer for all
 * objects.
 */
export class ObjectExpiry implements ChangeListener {
  readonly #clock: Clock;
  readonly #storage: ResourceStorage;
  readonly #timeToLiveMs: number;
  /** Stored objects by UID, in order of expiry: all objects have the same time to live. */
  readonly #expiring = new Map<string, { readonly stored: StoredObject; readonly atMs: number }>();
  #armed = false;

  /** Starts the expiry of a resource, for the lifetime of the server. */
  static start(options: { clock: Clock; storage: ResourceStorage; timeToLiveMs: number }): void {
    const expiry = new ObjectExpiry(options);
    for (const stored of options.storage.list()) expiry.#add(stored);
    options.storage.follow(expiry);
  }

  private constructor(options: { clock: Clock; storage: ResourceStorage; timeToLiveMs: number }) {
    this.#clock = options.clock;
    this.#storage = options.storage;
    this.#timeToLiveMs = options.timeToLiveMs;
  }

  onChange({ previous, current }: Change): void {
    if (previous !== undefined) this.#expiring.delete(uidOf(previous));
    if (current !== undefined) this.#add(current);
  }

  #add(stored: StoredObject): void {
    this.#expiring.set(uidOf(stored), { stored, atMs: this.#clock.now() + this.#timeToLiveMs });
    this.#arm();
  }

  #arm(): void {
    if (this.#armed) return;
    const [next] = this.#expiring.values();
    if (next === undefined) return;
    this.#armed = true;
    this.#clock.setTimer(
      next.atMs - this.#clock.now(),
      () => {
        this.#armed = false;
        this.#removeDue();
        this.#arm();
      },
      { background: true },
    );
  }

  #removeDue(): void {
    const nowMs = this.#clock.now();
    for (const { stored, atMs } of this.#expiring.values()) {
      if (atMs > nowMs) return;
      this.#storage.remove(stored);
    }
  }
}

function uidOf(stored: StoredObject): string {
  return stored.object.metadata.uid ?? storageKey(stored);
}
