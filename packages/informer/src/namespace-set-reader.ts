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

/** What an {@link NamespaceSetReader} is to read at the moment. */
export interface NamespaceSelection {
  /** The namespaces of lists. */
  listedNamespaces(): Iterable<string>;
  /** The namespaces of watches: those of lists, and those that are about to be. */
  watchedNamespaces(): Iterable<string>;
}

export interface NamespaceSetReaderOptions<T extends KubernetesObject> extends ShardReaderOptions {
  readonly client: Reader<T>;
  readonly selection: NamespaceSelection;
  /** Told when everything is about to be listed anew. What a watch told until then may not be all there was. */
  readonly onRelist: () => void;
}

/**
 * Reads namespaces that change while it does, by one list or one watch at a time. A watch goes on at the version it had come to
 * when more namespaces are to be in it, so that of the others nothing is missed, and nothing comes twice.
 */
export class NamespaceSetReader<T extends KubernetesObject> implements Reader<T> {
  readonly definition: ResourceDefinition<T>;
  readonly #options: NamespaceSetReaderOptions<T>;
  /** Of the list that is under way, whose pages are all of one shard. */
  #listing: Reader<T> | undefined;
  /** The namespaces of the watch that is open. */
  #watched: ReadonlySet<string> | undefined;
  #reopen: (() => void) | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: NamespaceSetReaderOptions<T>) {
    this.#options = options;
    this.definition = options.client.definition;
  }

  /** Resolves when a watch is open that tells of all that are `wanted`, or the signal has aborted. */
  async waitUntilWatched(wanted: () => readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !wanted().every((namespace) => this.#watched?.has(namespace))) {
      const opened = new Promise<void>((resolve) => this.#waiters.push(resolve));
      this.reopenWatch();
      await opened;
    }
  }

  /** Has the watch go on with what is to be in it now. */
  reopenWatch(): void {
    this.#reopen?.();
  }

  /** Ends all waiting. */
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
    // Nobody wants anything yet: all that is needed is a version to watch from.
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
    // From now on: who wants more while this one opens has it left as soon as it is there.
    this.#reopen = supersede;
    try {
      const watchOptions = { ...options, signal: superseded.signal };
      // A shard of nothing cannot be asked for: everything would come.
      const events =
        namespaces.size === 0 ? emptyWatch<T>(superseded.signal) : await this.#shard(namespaces).watch(watchOptions);
      this.#watched = namespaces;
      this.releaseWaiters();
      return { events, end, isSuperseded: () => superseded.signal.aborted && signal?.aborted !== true };
    } catch (error) {
      end();
      // It was left before it opened: it is as good as one that ended at once.
      if (superseded.signal.aborted && signal?.aborted !== true) return this.#open(options);
      throw error;
    }
  }

  #shard(namespaces: Iterable<string>): ShardReader<T> {
    return new ShardReader(this.#options.client, namespaceShard(namespaces), this.#options);
  }
}

/** A watch that tells nothing until the signal aborts. */
async function* emptyWatch<T extends KubernetesObject>(
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<DeepReadonly<T>>, void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

interface OpenWatch<T> {
  readonly events: AsyncIterable<WatchEvent<DeepReadonly<T>>>;
  /** Whether it is to be opened anew. */
  readonly isSuperseded: () => boolean;
  readonly end: () => void;
}
