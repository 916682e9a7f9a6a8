import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  type ResourceDefinition,
  type ShardMatcher,
  type ShardSelector,
  type WatchEvent,
  apiVersionOf,
  formatShardSelector,
  shardMatcher,
} from "@kubewright/api";

import { StatusError } from "./errors.js";
import type { GetOptions, ItemMapping, ListOptions, Reader, WatchOptions } from "./resource-client.js";

/** Maximum length of a selector in a request. Proxies behind HTTP/2 may reject longer URLs. */
const MAX_SELECTOR_LENGTH = 32_768;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export interface ShardReaderOptions {
  /**
   * Called with the number of objects of other shards that the server sent: once per list, and per watch event.
   * Default: no call.
   */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /**
   * Called when the server refuses the selector (it is then not sent again), or when it assigns objects to shards
   * differently. The objects read are correct in both cases. Default: no call.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Reads one shard of a resource. Asks the server to filter (KEP-5866), and filters what the server sends nevertheless.
 * A server without sharding, or with unfiltered watches, costs bandwidth but gives the same result.
 *
 * An event of another shard becomes a bookmark, so that a shard without changes keeps its resourceVersion up to date.
 */
export class ShardReader<T extends KubernetesObject> implements Reader<T> {
  readonly definition: ResourceDefinition<T>;
  /** The selector in the server's canonical form. */
  readonly selector: string;
  readonly #reader: Reader<T>;
  readonly #matches: ShardMatcher;
  readonly #onForeignObjects: (count: number) => void;
  readonly #onError: (error: Error) => void;
  #sendsSelector: boolean;
  #isFilteredByServer: boolean | undefined;

  constructor(reader: Reader<T>, selector: ShardSelector, { onForeignObjects, onError }: ShardReaderOptions = {}) {
    this.#reader = reader;
    this.definition = reader.definition;
    this.selector = formatShardSelector(selector);
    this.#matches = shardMatcher(selector);
    this.#onForeignObjects = onForeignObjects ?? (() => {});
    this.#onError = onError ?? (() => {});
    // A selector without ranges cannot be sent.
    this.#sendsSelector = this.selector !== "" && this.selector.length <= MAX_SELECTOR_LENGTH;
  }

  /**
   * Whether the server filters by shard, according to the last list and everything received since. `undefined` while
   * that is unknown. Lists of custom resources do not show it.
   */
  get isFilteredByServer(): boolean | undefined {
    return this.#isFilteredByServer;
  }

  /** Returns any object, of any shard. */
  get(name: string, options?: GetOptions): Promise<DeepReadonly<T>> {
    return this.#reader.get(name, options);
  }

  async list(options: ListOptions & ItemMapping<T> = {}): Promise<DeepReadonly<List<T>>> {
    const { mapItem } = options;
    let foreign = 0;
    const keepOrDrop = (item: DeepReadonly<T>): DeepReadonly<T> => {
      if (this.#isInShard(item)) return mapItem === undefined ? item : mapItem(item);
      foreign++;
      return FOREIGN_ITEM as unknown as DeepReadonly<T>;
    };
    const list = await this.#withSelector((shardSelector) => {
      foreign = 0;
      return this.#reader.list({ ...options, shardSelector, mapItem: keepOrDrop });
    });
    const isFiltered = (list.metadata as Partial<typeof list.metadata> | null)?.shardInfo?.selector === this.selector;
    if (isFiltered) this.#isFilteredByServer = true;
    if (foreign === 0) return list;
    if (isFiltered) {
      const what = `${foreign} of the listed ${this.definition.resource} are of no shard that was asked for`;
      this.#onError(new Error(`${what}: the server and this client differ in what is in ${this.selector}`));
    }
    this.#reportForeignObjects(foreign);
    return { ...list, items: list.items.filter((item) => (item as unknown) !== FOREIGN_ITEM) };
  }

  async watch(options: WatchOptions = {}): Promise<AsyncIterable<WatchEvent<DeepReadonly<T>>>> {
    const events = await this.#withSelector((shardSelector) => this.#reader.watch({ ...options, shardSelector }));
    return this.#filtered(events, startsWithInitialEvents(options));
  }

  /** @param isInitial - Whether the events begin with the existing objects, whose versions are not in order. */
  async *#filtered(
    events: AsyncIterable<WatchEvent<DeepReadonly<T>>>,
    isInitial: boolean,
  ): AsyncGenerator<WatchEvent<DeepReadonly<T>>, void> {
    let isInitialPart = isInitial;
    for await (const event of events) {
      const object = changedObject(event);
      if (object === undefined || this.#isInShard(object)) {
        if (isInitialEventsEnd(event)) isInitialPart = false;
        yield event;
        continue;
      }
      this.#reportForeignObjects(1);
      if (isInitialPart && event.type === "ADDED") continue;
      yield { type: "BOOKMARK", object: this.#bookmark(object.metadata.resourceVersion) };
    }
  }

  /** A malformed object counts as part of the shard, so that its reader reports it. */
  #isInShard(object: DeepReadonly<T>): boolean {
    const { metadata } = (object as Partial<DeepReadonly<KubernetesObject>> | null) ?? {};
    return metadata === undefined || metadata === null || this.#matches({ metadata });
  }

  #reportForeignObjects(count: number): void {
    this.#isFilteredByServer = false;
    this.#onForeignObjects(count);
  }

  #bookmark(resourceVersion: string | undefined): DeepReadonly<T> {
    const { kind } = this.definition;
    const metadata = resourceVersion === undefined ? {} : { resourceVersion };
    return { kind, apiVersion: apiVersionOf(this.definition), metadata } as unknown as DeepReadonly<T>;
  }

  /**
   * Reads without the selector when the server refuses it, and never sends it again: a client that retries 500s would
   * retry for ever.
   */
  async #withSelector<R>(send: (shardSelector: string | undefined) => Promise<R>): Promise<R> {
    if (!this.#sendsSelector) return send(undefined);
    try {
      return await send(this.selector);
    } catch (error) {
      if (!isUnclassified(error)) throw error;
      const result = await send(undefined);
      // Only the selector was wrong: without it the server answers.
      this.#sendsSelector = false;
      this.#isFilteredByServer = false;
      this.#onError(error);
      return result;
    }
  }
}

/**
 * Whether the server answered with an error that has no reason. It refuses a shard selector with a plain error, which
 * has none. Some failures of etcd have none either.
 */
function isUnclassified(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status.reason ?? "") === "";
}

/** Takes the place of an item of another shard until the list is complete. The item itself is dropped immediately. */
const FOREIGN_ITEM: unique symbol = Symbol("of another shard");

function startsWithInitialEvents({ resourceVersion = "", sendInitialEvents = false }: WatchOptions): boolean {
  return sendInitialEvents || resourceVersion === "" || resourceVersion === "0";
}

/** Returns the object of an ADDED, MODIFIED or DELETED event; `undefined` for any other or malformed event. */
function changedObject<T>(event: Partial<WatchEvent<T>> | null): T | undefined {
  const { type, object } = event ?? {};
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED" ? object : undefined;
}

function isInitialEventsEnd(event: Partial<WatchEvent<DeepReadonly<KubernetesObject>>> | null): boolean {
  const { type, object } = event ?? {};
  const { metadata } = (object ?? {}) as Partial<KubernetesObject>;
  return type === "BOOKMARK" && metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
}
