import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  type ResourceDefinition,
  type WatchEvent,
  namespaceShard,
} from "@kubewright/api";
import {
  type GetOptions,
  type ItemMapping,
  type ListOptions,
  type Reader,
  ShardReader,
  type ShardReaderOptions,
  type WatchOptions,
} from "@kubewright/client";

import { resourceVersionOf } from "./object-metadata.js";

/** The namespaces that a {@link NamespaceSetReader} currently reads. */
export interface NamespaceSelection {
  /** Returns the namespaces to list. */
  listedNamespaces(): Iterable<string>;
  /** Returns the namespaces to watch: those to list, and those that will be listed soon. */
  watchedNamespaces(): Iterable<string>;
}

export interface NamespaceSetReaderOptions<T extends KubernetesObject> extends ShardReaderOptions {
  readonly client: Reader<T>;
  readonly selection: NamespaceSelection;
  /** Called before a full relist. The watch events delivered until then may be incomplete. */
  readonly onRelist: () => void;
}

/**
 * Reads a changing set of namespaces with one list or one watch at a time. When namespaces are added, the watch is
 * reopened at the resourceVersion it has reached. For the other namespaces, no event is therefore lost or delivered
 * twice.
 */
export class NamespaceSetReader<T extends KubernetesObject> implements Reader<T> {
  readonly definition: ResourceDefinition<T>;
  readonly #options: NamespaceSetReaderOptions<T>;
  /** Reader of the list in progress. All pages of a list belong to one shard. */
  #listing: Reader<T> | undefined;
  /** The namespaces of the open watch. */
  #watched: ReadonlySet<string> | undefined;
  #reopen: (() => void) | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: NamespaceSetReaderOptions<T>) {
    this.#options = options;
    this.definition = options.client.definition;
  }

  /** Resolves when a watch of all `wanted` namespaces is open, or the signal has aborted. */
  async waitUntilWatched(wanted: () => readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !wanted().every((namespace) => this.#watched?.has(namespace))) {
      const opened = new Promise<void>((resolve) => this.#waiters.push(resolve));
      this.reopenWatch();
      await opened;
    }
  }

  /** Reopens the watch with the current namespaces. */
  reopenWatch(): void {
    this.#reopen?.();
  }

  /** Resolves all pending waits. */
  releaseWaiters(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  get(name: string, options?: GetOptions): Promise<DeepReadonly<T>> {
    return this.#options.client.get(name, options);
  }

  async list(options: ListOptions & ItemMapping<T> = {}): Promise<DeepReadonly<List<T>>> {
    if (options.continue === undefined) {
      this.#options.onRelist();
      const namespaces = [...this.#options.selection.listedNamespaces()];
      this.#listing = namespaces.length === 0 ? undefined : this.#shard(namespaces);
    }
    if (this.#listing !== undefined) return this.#listing.list(options);
    // No namespace is needed yet. The list only provides a resourceVersion to watch from.
    const { metadata, ...list } = await this.#options.client.list({ ...options, limit: 1 });
    const { resourceVersion } = metadata as { readonly resourceVersion: string };
    return { ...list, metadata: { resourceVersion }, items: [] };
  }

  async watch(options: WatchOptions = {}): Promise<AsyncIterable<WatchEvent<DeepReadonly<T>>>> {
    return this.#events(await this.#open(options), options);
  }

  async *#events(first: OpenWatch<T>, options: WatchOptions): AsyncGenerator<WatchEvent<DeepReadonly<T>>, void> {
    let { resourceVersion } = options;
    for (let watch = first; ; watch = await this.#open({ ...options, resourceVersion })) {
      try {
        for await (const event of watch.events) {
          const object = (event as Partial<WatchEvent<DeepReadonly<T>>> | null)?.object;
          if (event.type !== "ERROR" && object?.metadata !== undefined)
            resourceVersion = resourceVersionOf(object as DeepReadonly<T>) || resourceVersion;
          yield event;
          if (watch.isSuperseded()) break;
        }
      } catch (error) {
        if (!watch.isSuperseded()) throw error;
      } finally {
        watch.end();
      }
      if (!watch.isSuperseded() || options.signal?.aborted) return;
    }
  }

  async #open(options: WatchOptions): Promise<OpenWatch<T>> {
    const namespaces = new Set(this.#options.selection.watchedNamespaces());
    const superseded = new AbortController();
    const { signal } = options;
    const supersede = (): void => superseded.abort(new Error("the watch is reopened for other namespaces"));
    const onAbort = (): void => superseded.abort(signal!.reason);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const end = (): void => {
      signal?.removeEventListener("abort", onAbort);
      if (this.#reopen === supersede) this.#watched = this.#reopen = undefined;
    };
    // Set before opening: a request for more namespaces during the opening supersedes this watch as soon as it is open.
    this.#reopen = supersede;
    try {
      const watchOptions = { ...options, signal: superseded.signal };
      // An empty shard cannot be requested: the server would send everything.
      const events =
        namespaces.size === 0 ? emptyWatch<T>(superseded.signal) : await this.#shard(namespaces).watch(watchOptions);
      this.#watched = namespaces;
      this.releaseWaiters();
      return { events, end, isSuperseded: () => superseded.signal.aborted && signal?.aborted !== true };
    } catch (error) {
      end();
      // Superseded while it opened: handled like a watch that ended immediately.
      if (superseded.signal.aborted && signal?.aborted !== true) return this.#open(options);
      throw error;
    }
  }

  #shard(namespaces: Iterable<string>): ShardReader<T> {
    return new ShardReader(this.#options.client, namespaceShard(namespaces), this.#options);
  }
}

/** A watch without events, until the signal aborts. */
async function* emptyWatch<T extends KubernetesObject>(
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<DeepReadonly<T>>, void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

interface OpenWatch<T> {
  readonly events: AsyncIterable<WatchEvent<DeepReadonly<T>>>;
  /** Whether the watch has to be reopened. */
  readonly isSuperseded: () => boolean;
  readonly end: () => void;
}
