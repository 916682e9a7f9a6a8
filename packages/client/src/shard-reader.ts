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

/** Longer selectors are not sent: what is behind HTTP/2 may not take them. */
const MAX_SELECTOR_LENGTH = 32_768;
const INVALID_SELECTOR_MESSAGE = "invalid shard selector";
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

export interface ShardReaderOptions {
  /** Told how many objects of other shards came along, of a list together and of a watch one by one. Default: nobody is. */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /**
   * Told when the server refuses the selector, which is not sent again, or has another opinion of what is in the shard. What is
   * read is right all the same. Default: nobody is.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Reads one shard of a resource. The server is asked to leave the rest out (KEP-5866), and what it does not is left out here:
 * a server that does not know shards, or whose watches are not filtered, costs bytes and changes nothing.
 *
 * An event of another shard becomes a bookmark, so that a shard in which nothing happens keeps up.
 */
export class ShardReader<T extends KubernetesObject> implements Reader<T> {
  readonly definition: ResourceDefinition<T>;
  /** The selector as the server repeats it. */
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
    // Without a range there is nothing that could be sent.
    this.#sendsSelector = this.selector !== "" && this.selector.length <= MAX_SELECTOR_LENGTH;
  }

  /**
   * Whether the server leaves out what is of other shards, going by the last list and all that came since; `undefined` while
   * nothing tells. Lists of custom resources do not tell.
   */
  get isFilteredByServer(): boolean | undefined {
    return this.#isFilteredByServer;
  }

  /** As of any object, whatever its shard. */
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

  /** @param isInitial - Whether the events begin with what there is, whose versions are in no order. */
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

  /** What is not well formed is nobody's: whoever reads it says so. */
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

  /** A selector that is refused is refused always: one that retried what it was told of 500s would retry for ever. */
  async #withSelector<R>(send: (shardSelector: string | undefined) => Promise<R>): Promise<R> {
    if (!this.#sendsSelector) return send(undefined);
    try {
      return await send(this.selector);
    } catch (error) {
      if (!(error instanceof StatusError) || !error.message.startsWith(INVALID_SELECTOR_MESSAGE)) throw error;
      this.#sendsSelector = false;
      this.#isFilteredByServer = false;
      this.#onError(error);
      return send(undefined);
    }
  }
}

/** Stands for an item of another shard until the whole list has come: the item itself is let go at once. */
const FOREIGN_ITEM: unique symbol = Symbol("of another shard");

function startsWithInitialEvents({ resourceVersion = "", sendInitialEvents = false }: WatchOptions): boolean {
  return sendInitialEvents || resourceVersion === "" || resourceVersion === "0";
}

/** What an event tells of, unless it is something else, or nothing well formed. */
function changedObject<T>(event: Partial<WatchEvent<T>> | null): T | undefined {
  const { type, object } = event ?? {};
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED" ? object : undefined;
}

function isInitialEventsEnd(event: Partial<WatchEvent<DeepReadonly<KubernetesObject>>> | null): boolean {
  const { type, object } = event ?? {};
  const { metadata } = (object ?? {}) as Partial<KubernetesObject>;
  return type === "BOOKMARK" && metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
}
