import type { Status } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { Store } from "./storage/store.js";
import type { Watcher } from "./storage/watcher.js";

/**
 * Knows the open watches, and tells those that want bookmarks now and then how far the server's version has come. A timer runs only after a write: a server where
 * nothing happens sends nothing, and in virtual time costs nothing.
 */
export class BookmarkClock {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #intervalMs: number;
  /** Every open watch, and whether it wants bookmarks. */
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

  /** Ends every stream: the server stops. */
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
