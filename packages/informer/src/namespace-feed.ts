import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  compareResourceVersions,
  namespaceShard,
} from "@kubewright/api";
import { type Reader, ShardReader } from "@kubewright/client";
import type { Clock, Random, Timer } from "@kubewright/clock";

import { Backoff } from "./backoff.js";
import { Deadline } from "./deadline.js";
import { errorReporter } from "./error-reporter.js";
import { InformerError } from "./informer-error.js";
import { NamespaceSetReader } from "./namespace-set-reader.js";
import { type PagedList, type PageQuery, listPages } from "./list-pages.js";
import { metadataOf, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorTarget } from "./reflector.js";
import type { Transform } from "./transform.js";

export interface NamespaceFeedOptions<T extends KubernetesObject> {
  /** Of a namespaced resource. */
  readonly client: Reader<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly transform?: Transform<T> | undefined;
  /** Told how many objects of other namespaces came along, which a server that knows shards leaves out. Default: nobody is. */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /** Told about every failure; the feed goes on after all of them. Default: standard error, the same once a minute. */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/** A namespace from being wanted to being told of. */
interface NamespaceEntry<T extends KubernetesObject> {
  readonly target: ReflectorTarget<T>;
  /** `wanted`: it has to be listed. `prepared`: it was, and is held back. `active`: its target has it all. */
  state: "wanted" | "prepared" | "active";
  objects: DeepReadonly<T>[];
  /** Of the list: events that are not newer say nothing new. */
  version: string;
  /** What came since it is wanted. */
  events: { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: DeepReadonly<T> }[];
}

/** So many namespaces are listed one by one, which servers do by index; more in one list of everything. */
const MAX_SEPARATE_LISTS = 32;
const CONCURRENT_LISTS = 4;
const PAGE_SIZE = 500;
const LIST_TIMEOUT_MS = 30_000;
/** A watch that tells of what nobody wants any more goes on this long, as more may go. */
const NARROW_AFTER_MS = 10_000;

/**
 * One watch of a resource for many caches, each of namespaces of its own that come and go while it runs. Whoever takes a namespace
 * over from another process has all that this had done: a namespace is listed after it was wanted, as new as the server's store
 * is then, and by a watch that was open before.
 *
 * A namespace is told of in two steps, {@link prepare} and {@link activate}, so that several resources of it can come at once:
 * whoever saw the owners and not yet what they own would make it again.
 */
export class NamespaceFeed<T extends KubernetesObject> {
  readonly #options: NamespaceFeedOptions<T>;
  readonly #onError: (error: InformerError) => void;
  readonly #reader: NamespaceSetReader<T>;
  readonly #reflector: Reflector<T>;
  readonly #backoff: Backoff;
  readonly #entries = new Map<string, NamespaceEntry<T>>();
  /** Those that were told of all they have, be it nothing. */
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

  /** Monotonic milliseconds when the server last answered or sent something; `undefined` before it did. */
  get lastContactMs(): number | undefined {
    return this.#reflector.lastContactMs;
  }

  /** Lists and watches until `signal` aborts, then resolves. Once. */
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
   * Has namespaces listed that a target is to be told of, and holds them back. Resolves when they are here, or not wanted any
   * more. What comes meanwhile may undo it, which {@link isPrepared} tells: then this is to be called again.
   *
   * @throws Error when a namespace is another target's; the reason of the signal, or of {@link run}'s.
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
      // Nothing is listed any more, so nothing would be prepared however often this is called again.
      this.#signal?.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", this.#wakeWaiters);
    }
  }

  /** Whether all of them are here. */
  isPrepared(namespaces: readonly string[]): boolean {
    return namespaces.every((namespace) => (this.#entries.get(namespace)?.state ?? "wanted") !== "wanted");
  }

  /** Tells the target of namespaces that are prepared, and from now on of all that happens there. */
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

  /** Tells a target of nothing any more. */
  removeTarget(target: ReflectorTarget<T>): void {
    this.#initialized.delete(target);
    this.removeNamespaces(
      [...this.#entries].filter(([, entry]) => entry.target === target).map(([namespace]) => namespace),
    );
  }

  /** Tells nobody of these namespaces any more. What targets know of them stays until the next list of everything. */
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

  /** What was not told by the watch so far never will be: what is held back has to be listed again, after it goes on. */
  #restart(): void {
    this.#generation++;
    for (const entry of this.#entries.values()) {
      entry.events.length = 0;
      if (entry.state !== "active") entry.state = "wanted";
      // What is active is listed now, by the reflector, and may be older than before, as after a restored backup.
      entry.version = "";
    }
    this.#listWanted();
  }

  /** Lists what is wanted, as long as there is any. */
  #listWanted(): void {
    const signal = this.#signal;
    if (this.#isListing || signal === undefined) return;
    this.#isListing = true;
    void this.#listAllWanted(signal);
  }

  async #listAllWanted(signal: AbortSignal): Promise<void> {
    const allWanted = (): readonly string[] => this.#namespacesWhere((entry) => entry.state === "wanted");
    while (!signal.aborted && allWanted().length > 0) {
      // Those who want something at the same time are served at once.
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
    // Given up meanwhile, and perhaps wanted again: of that one it is not known whether it was watched.
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

  /** Without a resourceVersion: as new as the store. */
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
