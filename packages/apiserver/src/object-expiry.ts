import type { Clock } from "@kubewright/clock";

import type { Change } from "./storage/change.js";
import type { ChangeListener, ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";

/** Removes objects a fixed time after their last write, as events are. One timer, however many objects. */
export class ObjectExpiry implements ChangeListener {
  readonly #clock: Clock;
  readonly #storage: ResourceStorage;
  readonly #timeToLiveMs: number;
  /** In order of expiry: every write of the same resource lives equally long. */
  #queue: StoredObject[] = [];
  /** When each of the queue is due. */
  #times: number[] = [];
  #head = 0;
  #armed = false;

  /** Watches a resource for as long as the server lives. */
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

  onChange({ current }: Change): void {
    if (current !== undefined) this.#add(current);
  }

  #add(stored: StoredObject): void {
    this.#queue.push(stored);
    this.#times.push(this.#clock.now() + this.#timeToLiveMs);
    this.#arm();
  }

  #arm(): void {
    const nextMs = this.#times[this.#head];
    if (this.#armed || nextMs === undefined) return;
    this.#armed = true;
    this.#clock.setTimer(
      nextMs - this.#clock.now(),
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
    while (this.#head < this.#queue.length && this.#times[this.#head]! <= nowMs) {
      const stored = this.#queue[this.#head++]!;
      // A later write has an entry of its own.
      if (this.#storage.get(stored.namespace, stored.name) === stored) this.#storage.remove(stored);
    }
    if (this.#head > 1000 || this.#head === this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
  }
}
