import type { Status } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { Store } from "./storage/store.js";
import type { Watcher } from "./storage/watcher.js";

/**
 * Keeps the open watches and periodically sends bookmarks with the server's resourceVersion to those that request them.
 * A timer runs only after a write: an idle server sends nothing, and costs nothing in virtual time.
 */
export class BookmarkClock {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #intervalMs: number;
  /** All open watches, and whether each requests bookmarks. */
  readonly #watchers = new Map<Watcher, boolean>();
  #armed = false;

  constructor(options: { clock: Clock; store: Store; intervalMs: number }) {
    this.#clock = options.clock;
    this.#store = options.store;
    this.#intervalMs = options.intervalMs;
    options.store.onWrite(() => this.#arm());
  }

  add(watcher: Watcher, wantsBookmarks: boolean): void {
    this.#watchers.set(watcher, wantsBookmarks);
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  closeAtTimeout(watcher: Watcher): void {
    if (this.#watchers.get(watcher) === true) this.#sendIfBehind(watcher);
    watcher.close();
  }

  /** Ends every stream because the server closes. */
  closeAll(): void {
    for (const watcher of this.#watchers.keys()) watcher.close();
  }

  /** Ends every stream with an error. */
  failAll(status: Status): void {
    for (const watcher of this.#watchers.keys()) watcher.fail(status);
  }

  #arm(): void {
    if (this.#armed || this.#watchers.size === 0) return;
    this.#armed = true;
    this.#clock.setTimer(
      this.#intervalMs,
      () => {
        this.#armed = false;
        for (const [watcher, wantsBookmarks] of this.#watchers) if (wantsBookmarks) this.#sendIfBehind(watcher);
      },
      { background: true },
    );
  }

  #sendIfBehind(watcher: Watcher): void {
    const { resourceVersion } = this.#store;
    if (watcher.seenVersion < resourceVersion) watcher.bookmark(resourceVersion);
  }
}
