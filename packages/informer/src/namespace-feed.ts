import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  compareResourceVersions,
  namespaceShard,
} from "@kubewright/api";
import { type Reader, ShardReader } from "@kubewright/client";
import type { Timer } from "@kubewright/clock";

import { Backoff } from "./backoff.js";
import { Deadline } from "./deadline.js";
import { errorReporter } from "./error-reporter.js";
import { InformerError } from "./informer-error.js";
import { NamespaceSetReader } from "./namespace-set-reader.js";
import { type PagedList, type PageQuery, listPages } from "./list-pages.js";
import { metadataOf, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorOptions, type ReflectorTarget } from "./reflector.js";

/** The client is that of a namespaced resource. */
export interface NamespaceFeedOptions<T extends KubernetesObject> extends Pick<
  ReflectorOptions<T>,
  "client" | "clock" | "random" | "transform"
> {
  /**
   * Called with the number of objects of other namespaces that arrived. A server with sharding leaves them out.
   * Default: no call.
   */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /**
   * Called with every error; the feed continues after all of them. Default: writes to standard error, an identical
   * error at most once a minute.
   */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/** A namespace of a target cache, from {@link NamespaceFeed.prepare} on. */
interface NamespaceEntry<T extends KubernetesObject> {
  readonly target: ReflectorTarget<T>;
  /** `wanted`: not listed yet. `prepared`: listed, but not delivered. `active`: delivered to its target. */
  state: "wanted" | "prepared" | "active";
  objects: DeepReadonly<T>[];
  /** resourceVersion of the list. Events that are not newer are dropped. */
  version: string;
  /** Events received since the namespace is wanted. */
  events: { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: DeepReadonly<T> }[];
}

/**
 * Up to this number, namespaces are listed separately, which servers serve from an index. More are listed in one
 * request for all.
 */
const MAX_SEPARATE_LISTS = 32;
const CONCURRENT_LISTS = 4;
const PAGE_SIZE = 500;
const LIST_TIMEOUT_MS = 30_000;
/** Delay before a watch is reopened without removed namespaces, because more of them may be removed. */
const NARROW_AFTER_MS = 10_000;

/**
 * One watch of a resource for many caches. Each cache has its own namespaces, which can be added and removed while the
 * feed runs. After taking over a namespace from another process, a cache has all writes of that process: the namespace
 * is listed after it was requested, by a consistent read, and by then a watch of it is open.
 *
 * A namespace is delivered in two steps, {@link prepare} and {@link activate}, so that several resources of it can be
 * delivered together. A controller that saw owners without their dependents would create the dependents again.
 */
export class NamespaceFeed<T extends KubernetesObject> {
  readonly #options: NamespaceFeedOptions<T>;
  readonly #onError: (error: InformerError) => void;
  readonly #reader: NamespaceSetReader<T>;
  readonly #reflector: Reflector<T>;
  readonly #backoff: Backoff;
  readonly #entries = new Map<string, NamespaceEntry<T>>();
  /** Targets that have received `replace`, even an empty one. */
  readonly #initialized = new Set<ReflectorTarget<T>>();
  #generation = 0;
  #isListing = false;
  #signal: AbortSignal | undefined;
  #waiters: (() => void)[] = [];
  #narrowTimer: Timer | undefined;

  constructor(options: NamespaceFeedOptions<T>) {
    this.#options = options;
    const { client, clock, random, transform, onForeignObjects } = options;
    this.#onError = errorReporter(clock, options.onError);
    this.#backoff = new Backoff(options);
    this.#reader = new NamespaceSetReader({
      client,
      selection: {
        listedNamespaces: () => this.#namespacesWhere((entry) => entry.state === "active"),
        watchedNamespaces: () => this.#entries.keys(),
      },
      onRelist: () => this.#restart(),
      onForeignObjects,
      onError: (error) => this.#report(error),
    });
    this.#reflector = new Reflector({
      client: this.#reader,
      clock,
      random,
      transform,
      consistentFirstList: true,
      watchList: false,
      target: this.#target(),
      onError: this.#onError,
    });
  }

  /** Monotonic time in milliseconds when the server last sent something; `undefined` if it has sent nothing. */
  get lastContactMs(): number | undefined {
    return this.#reflector.lastContactMs;
  }

  /** Lists and watches until `signal` aborts, then resolves. Can be called once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const release = (): void => {
      this.#reader.releaseWaiters();
      this.#wakeWaiters();
    };
    signal.addEventListener("abort", release, { once: true });
    this.#listWanted();
    await this.#reflector.run(signal);
    this.#narrowTimer?.cancel();
    release();
  }

  /**
   * Lists namespaces for a target without delivering them yet. Resolves when they are listed or no longer wanted. A
   * relist meanwhile can undo the preparation: check {@link isPrepared}, and call this method again if it is false.
   *
   * @throws Error when a namespace belongs to another target; the reason of the signal, or of the signal of {@link
   * run}.
   */
  async prepare(target: ReflectorTarget<T>, namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    for (const namespace of namespaces) {
      const known = this.#entries.get(namespace);
      if (known !== undefined && known.target !== target)
        throw new Error(`namespace ${namespace} is already delivered to another target`);
      if (known === undefined)
        this.#entries.set(namespace, { target, state: "wanted", objects: [], version: "", events: [] });
    }
    this.#listWanted();
    signal.addEventListener("abort", this.#wakeWaiters, { once: true });
    try {
      while (!this.#signal?.aborted && namespaces.some((name) => this.#entries.get(name)?.state === "wanted")) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => this.#waiters.push(resolve));
      }
      signal.throwIfAborted();
      // The feed has stopped and lists nothing any more, so a repeated call could not succeed either.
      this.#signal?.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", this.#wakeWaiters);
    }
  }

  /** Whether all the namespaces are listed. */
  isPrepared(namespaces: readonly string[]): boolean {
    return namespaces.every((namespace) => (this.#entries.get(namespace)?.state ?? "wanted") !== "wanted");
  }

  /** Delivers the prepared namespaces to the target, and all their changes from now on. */
  activate(target: ReflectorTarget<T>, namespaces: readonly string[]): void {
    const entries = namespaces.map((name) => this.#entries.get(name)!).filter(({ state }) => state === "prepared");
    const objects = entries.flatMap((entry) => entry.objects);
    if (!this.#initialized.has(target)) {
      this.#initialized.add(target);
      target.replace(objects, this.#reflector.lastSyncResourceVersion);
    } else {
      for (const object of objects) this.#reportErrors(() => target.apply("ADDED", object));
    }
    for (const entry of entries) {
      entry.state = "active";
      entry.objects = [];
      for (const { type, object } of entry.events.splice(0)) this.#forward(entry, type, object);
    }
  }

  /** Removes a target and its namespaces. */
  removeTarget(target: ReflectorTarget<T>): void {
    this.#initialized.delete(target);
    this.removeNamespaces(
      [...this.#entries].filter(([, entry]) => entry.target === target).map(([namespace]) => namespace),
    );
  }

  /**
   * Removes namespaces: their changes are no longer delivered. Their objects stay in the target until the next full
   * list.
   */
  removeNamespaces(namespaces: readonly string[]): void {
    for (const namespace of namespaces) this.#entries.delete(namespace);
    this.#narrowTimer ??= this.#options.clock.setTimer(NARROW_AFTER_MS, () => this.#narrow(), { background: true });
    this.#wakeWaiters();
  }

  #narrow(): void {
    this.#narrowTimer = undefined;
    this.#reader.reopenWatch();
  }

  #target(): ReflectorTarget<T> {
    return {
      replace: (objects, resourceVersion) => {
        const objectsByTarget = new Map<ReflectorTarget<T>, DeepReadonly<T>[]>();
        for (const target of this.#initialized) objectsByTarget.set(target, []);
        for (const object of objects) {
          const entry = this.#entries.get(metadataOf(object).namespace ?? "");
          if (entry?.state === "active") objectsByTarget.get(entry.target)?.push(object);
        }
        for (const [target, targetObjects] of objectsByTarget)
          this.#reportErrors(() => target.replace(targetObjects, resourceVersion));
      },
      apply: (type, object) => {
        const entry = this.#entries.get(metadataOf(object).namespace ?? "");
        if (entry?.state === "active") this.#forward(entry, type, object);
        else entry?.events.push({ type, object });
      },
      bookmark: (resourceVersion) => {
        for (const target of this.#initialized) target.bookmark(resourceVersion);
      },
      resync: () => {},
    };
  }

  #forward(
    { target, version }: NamespaceEntry<T>,
    type: "ADDED" | "MODIFIED" | "DELETED",
    object: DeepReadonly<T>,
  ): void {
    if ((compareResourceVersions(resourceVersionOf(object), version) ?? 1) <= 0) return;
    this.#reportErrors(() => target.apply(type, object));
  }

  /**
   * Events that the watch has not delivered are lost. Undelivered namespaces have to be listed again after the watch
   * continues.
   */
  #restart(): void {
    this.#generation++;
    for (const entry of this.#entries.values()) {
      entry.events.length = 0;
      if (entry.state !== "active") entry.state = "wanted";
      // The reflector lists active namespaces itself. Its list can be older than before, as after a restored backup.
      entry.version = "";
    }
    this.#listWanted();
  }

  /** Lists the wanted namespaces until there are none. */
  #listWanted(): void {
    const signal = this.#signal;
    if (this.#isListing || signal === undefined) return;
    this.#isListing = true;
    void this.#listAllWanted(signal);
  }

  async #listAllWanted(signal: AbortSignal): Promise<void> {
    const allWanted = (): readonly string[] => this.#namespacesWhere((entry) => entry.state === "wanted");
    while (!signal.aborted && allWanted().length > 0) {
      // Collects the namespaces that are requested at the same time, and lists them together.
      await this.#options.clock.yieldToEventLoop();
      await this.#reader.waitUntilWatched(allWanted, signal);
      const generation = this.#generation;
      const wanted = allWanted();
      const requested = new Map(wanted.map((name) => [name, this.#entries.get(name)]));
      try {
        for (const { namespaces, objects, version } of await this.#listNamespaces(wanted, signal)) {
          if (generation !== this.#generation) break;
          for (const namespace of namespaces) this.#markPrepared(requested.get(namespace), namespace, version);
          for (const object of objects) this.#storeObject(object);
        }
      } catch (error) {
        if (!signal.aborted) this.#report(error);
        await this.#options.clock.sleep(this.#backoff.next(), signal, { background: true }).catch(() => undefined);
      }
      this.#wakeWaiters();
    }
    this.#isListing = false;
  }

  #markPrepared(requested: NamespaceEntry<T> | undefined, namespace: string, version: string): void {
    const entry = this.#entries.get(namespace);
    // The entry was removed meanwhile, and perhaps added again. It is unknown whether the watch covered the new entry.
    if (entry === undefined || entry !== requested || entry.state !== "wanted") return;
    entry.state = "prepared";
    entry.version = version;
    entry.objects = [];
  }

  #storeObject(object: DeepReadonly<T>): void {
    const entry = this.#entries.get(metadataOf(object).namespace ?? "");
    if (entry?.state === "prepared") entry.objects.push(object);
  }

  async #listNamespaces(namespaces: readonly string[], signal: AbortSignal) {
    const { client, onForeignObjects } = this.#options;
    if (namespaces.length > MAX_SEPARATE_LISTS) {
      const onError = (error: Error): void => this.#report(error);
      const shard = new ShardReader(client, namespaceShard(namespaces), { onForeignObjects, onError });
      const { objects, resourceVersion } = await this.#list(shard, undefined, signal);
      return [{ namespaces, objects, version: resourceVersion }];
    }
    const lists: { namespaces: readonly string[]; objects: readonly DeepReadonly<T>[]; version: string }[] = [];
    const remaining = [...namespaces];
    const work = async (): Promise<void> => {
      for (let namespace = remaining.pop(); namespace !== undefined; namespace = remaining.pop()) {
        const { objects, resourceVersion } = await this.#list(client, namespace, signal);
        lists.push({ namespaces: [namespace], objects, version: resourceVersion });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_LISTS }, work));
    return lists;
  }

  /** Lists without a resourceVersion, which is a consistent read. */
  async #list(reader: Reader<T>, namespace: string | undefined, signal: AbortSignal): Promise<PagedList<T>> {
    const { transform, clock } = this.#options;
    const deadline = new Deadline(clock, signal, LIST_TIMEOUT_MS);
    const page = { namespace, signal: deadline.signal, mapItem: transform };
    const listPage = (query: PageQuery) =>
      reader.list({ ...page, ...query }) as unknown as Promise<List<DeepReadonly<T>>>;
    try {
      return await listPages<T>(listPage, { limit: PAGE_SIZE });
    } finally {
      deadline.release();
    }
  }

  #namespacesWhere(matches: (entry: NamespaceEntry<T>) => boolean): readonly string[] {
    return [...this.#entries].filter(([, entry]) => matches(entry)).map(([name]) => name);
  }

  readonly #wakeWaiters = (): void => {
    for (const resolve of this.#waiters.splice(0)) resolve();
  };

  #reportErrors(notify: () => void): void {
    try {
      notify();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    const { resource } = this.#options.client.definition;
    this.#onError(new InformerError("list", `failed to read ${resource} of some namespaces`, error));
  }
}
