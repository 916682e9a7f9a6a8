import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  type ObjectKey,
  type ShardSelector,
  type WatchEvent,
  compareResourceVersions,
  isStatus,
  qualifiedResource,
} from "@kubewright/api";
import {
  type Reader,
  ShardReader,
  StatusError,
  isConnectionRefused,
  isResourceExpired,
  isTooLargeResourceVersion,
  isTooManyRequests,
} from "@kubewright/client";
import type { Clock, Random, Timer } from "@kubewright/clock";

import { Backoff } from "./backoff.js";
import { Deadline } from "./deadline.js";
import { InformerError, type InformerStep } from "./informer-error.js";
import { type PagedList, type PageQuery, listPages } from "./list-pages.js";
import { keyOfObject, metadataOf, resourceVersionOf } from "./object-metadata.js";
import { RetryWindow } from "./retry-window.js";
import type { Transform } from "./transform.js";
import { WatchStream } from "./watch-stream.js";

/** Where a reflector puts what it sees. A method that throws is reported; the reflector goes on. */
export interface ReflectorTarget<T extends KubernetesObject> {
  /** The whole, as of a resourceVersion. */
  replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string): void;
  /** One change. The type is what the server said; the target knows better what it had. */
  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: DeepReadonly<T>): void;
  /** Nothing changed up to this resourceVersion. */
  bookmark(resourceVersion: string): void;
  /** A resync period has passed. */
  resync(): void;
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Reader<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly target: ReflectorTarget<T>;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * Only what is of this shard. Servers that know shards are asked to leave out the rest, and all of it is left out before
   * anything else sees it. It never changes: another shard takes another reflector, which lists anew.
   */
  readonly shard?: ShardSelector | undefined;
  /** Told how many objects of other shards came along. Default: nobody is. */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /**
   * Whether the first list is as new as the server's store when it is asked, and not just as new as its cache: for whoever goes on
   * with what another process did. Default false, as client-go.
   */
  readonly consistentFirstList?: boolean | undefined;
  readonly transform?: Transform<T> | undefined;
  /** Watches last between this and twice this. Default and least: 5 minutes. */
  readonly minWatchTimeoutMs?: number | undefined;
  /** Whether to ask for the initial list as a stream first. Default true. */
  readonly watchList?: boolean | undefined;
  /** For how long a watch that ends with an InternalError is opened again at once, from the first on. Default 0: never. */
  readonly internalErrorRetryMs?: number | undefined;
  readonly onError: (error: InformerError) => void;
}

/** What a reflector is about to do. Only `Watching` holds something open. */
type State<T extends KubernetesObject> =
  /** Get the whole as a stream that stays open; `attempts` were cut off in a row. */
  | { readonly type: "Streaming"; readonly attempts: number }
  /** Get the whole by a list request. */
  | { readonly type: "Listing" }
  /** Open a watch from the last resourceVersion. */
  | { readonly type: "Opening" }
  | { readonly type: "Watching"; readonly stream: WatchStream<T> }
  | { readonly type: "BackingOff"; readonly next: State<T> };

/** How reading a stream came to its end. */
type StreamEnd =
  | { readonly type: "Closed" }
  /** Closed within a second, and nothing came. */
  | { readonly type: "VeryShort" }
  /** The server sent an ERROR event. */
  | { readonly type: "Refused"; readonly error: StatusError }
  /** The reader had what it wanted; the stream is still open. */
  | { readonly type: "Satisfied" };

/** A paged list asks for this many; the server's cache ignores it. */
const PAGE_SIZE = 500;
const MIN_WATCH_TIMEOUT_MS = 300_000;
const VERY_SHORT_WATCH_MS = 1000;
const LIST_TIMEOUT_MS = 300_000;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** After so many events a turn of the event loop is asked for; after twice as many without one, it is waited for. */
const EVENTS_PER_YIELD = 512;

/**
 * Keeps a target up to date with one resource: lists, watches, and on trouble watches or lists again, for as long as its
 * signal lets it. A state machine: {@link run} performs one state after the other, and each names the next.
 *
 * @see kubernetes v1.36 client-go tools/cache/reflector.go
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #reader: Reader<T>;
  readonly #clock: Clock;
  readonly #target: ReflectorTarget<T>;
  readonly #backoff: Backoff;
  readonly #internalErrors: RetryWindow;
  readonly #resource: string;
  readonly #minWatchTimeoutMs: number;
  #lastSyncResourceVersion = "";
  /** The server could not serve `lastSyncResourceVersion` the last time it was asked to. */
  #lastSyncUnavailable = false;
  /** A list at "0" came in pages, so the server has no cache that large answers could come from. */
  #paginated = false;
  #resyncMs = 0;
  #resyncTimer: Timer | undefined;
  #eventsSinceYield = 0;
  #pendingYield: Promise<void> | undefined;
  #lastContactMs: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#reader = this.#createReader(options);
    this.#clock = options.clock;
    this.#target = options.target;
    this.#backoff = new Backoff(options);
    this.#internalErrors = new RetryWindow(options.clock, options.internalErrorRetryMs ?? 0);
    this.#resource = qualifiedResource(options.client.definition);
    this.#minWatchTimeoutMs = Math.max(options.minWatchTimeoutMs ?? 0, MIN_WATCH_TIMEOUT_MS);
  }

  /** The resourceVersion of the last list, event or bookmark taken in; `""` before the first. */
  get lastSyncResourceVersion(): string {
    return this.#lastSyncResourceVersion;
  }

  /** Monotonic milliseconds when the server last answered or sent something; `undefined` before it did. */
  get lastContactMs(): number | undefined {
    return this.#lastContactMs;
  }

  /**
   * Resolves as soon as the signal has aborted, never before, and rejects never. From then on nothing reaches the target,
   * even if the transport is slow to notice that it should end. Keeps the process alive meanwhile.
   *
   * @param resyncMs - How often the target is told to resync while a watch goes on; 0: never.
   */
  async run(signal: AbortSignal, resyncMs = 0): Promise<void> {
    if (signal.aborted) return;
    this.#resyncMs = resyncMs;
    const release = this.#clock.keepAlive();
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([this.#loop(signal), aborted]);
    this.#stopResync();
    release();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    let state: State<T> = this.#relist();
    while (!signal.aborted) {
      try {
        state = await this.#perform(state, signal);
      } catch (error) {
        // Nothing above is known to get here; whatever does must not end the informer.
        if (!signal.aborted) this.#report("watch", `unexpected failure while ${state.type.toLowerCase()}`, error);
        state = { type: "BackingOff", next: this.#relist() };
      }
    }
  }

  #perform(state: State<T>, signal: AbortSignal): Promise<State<T>> {
    switch (state.type) {
      case "Streaming":
        return this.#stream(state.attempts, signal);
      case "Listing":
        return this.#list(signal);
      case "Opening":
        return this.#open(signal);
      case "Watching":
        return this.#watch(state.stream, signal);
      case "BackingOff":
        return this.#backOff(state.next, signal);
      default:
        return state satisfies never;
    }
  }

  async #backOff(next: State<T>, signal: AbortSignal): Promise<State<T>> {
    await this.#clock.sleep(this.#backoff.next(), signal, { background: true });
    return next;
  }

  #relist(): State<T> {
    this.#stopResync();
    return (this.#options.watchList ?? true) ? { type: "Streaming", attempts: 0 } : { type: "Listing" };
  }

  /** The initial list as a watch: objects are collected until the server marks the end, then all at once become the cache. */
  async #stream(attempts: number, signal: AbortSignal): Promise<State<T>> {
    const resourceVersion =
      this.#lastSyncUnavailable || this.#lastSyncResourceVersion === "" ? undefined : this.#lastSyncResourceVersion;
    let stream: WatchStream<T>;
    try {
      stream = await this.#openStream(
        { resourceVersion, resourceVersionMatch: "NotOlderThan", sendInitialEvents: true },
        signal,
      );
    } catch (error) {
      return this.#handleStreamError(error, attempts);
    }
    const collected = new Map<ObjectKey, DeepReadonly<T>>();
    let endVersion = "";
    const end = await this.#read(stream, signal, ({ type, object }) => {
      if (type === "BOOKMARK") {
        if (metadataOf(object).annotations?.[INITIAL_EVENTS_END] !== "true") return "continue";
        endVersion = resourceVersionOf(object);
        return "stop";
      }
      const key = keyOfObject(object);
      const known = collected.get(key);
      // Sent again, and older than what has come already.
      if (known !== undefined && isOlder(resourceVersionOf(object), resourceVersionOf(known))) return "continue";
      if (type === "DELETED") collected.delete(key);
      else collected.set(key, this.#transformed(object));
      return "continue";
    });
    if (end.type === "Satisfied") {
      // What was there came in no order; what happens from here on does.
      stream.inOrder = true;
      const next = this.#replace(collected.values(), endVersion, { type: "Watching", stream });
      if (next.type !== "Watching") stream.close();
      return next;
    }
    stream.close();
    if (end.type === "Refused") return this.#handleStreamError(end.error, attempts);
    if (end.type === "VeryShort") return { type: "Listing" };
    const restart: State<T> = { type: "Streaming", attempts: attempts + 1 };
    // Upstream tries again at once however often it is cut off; we do so once, then take a breath.
    return attempts === 0 ? restart : { type: "BackingOff", next: restart };
  }

  #handleStreamError(error: unknown, attempts: number): State<T> {
    if (isBusy(error)) {
      this.#report("watch", `failed to watch ${this.#resource}`, error);
      return { type: "BackingOff", next: { type: "Streaming", attempts } };
    }
    if (isVersionUnavailable(error) && !this.#lastSyncUnavailable) {
      this.#lastSyncUnavailable = true;
      return { type: "Streaming", attempts };
    }
    // A server that does not stream lists: this time without. The next time it may.
    return { type: "Listing" };
  }

  async #list(signal: AbortSignal): Promise<State<T>> {
    const initialVersion = this.#options.consistentFirstList === true ? "" : "0";
    const requestedVersion = this.#lastSyncUnavailable ? "" : this.#lastSyncResourceVersion || initialVersion;
    // A full answer for a real version can come from the server's cache, which pages never do.
    const limit = this.#paginated || requestedVersion === "" || requestedVersion === "0" ? PAGE_SIZE : undefined;
    try {
      const { objects, resourceVersion, pages } = await this.#listPages(requestedVersion, limit, signal).catch(
        (error: unknown) => {
          if (!isVersionUnavailable(error) || signal.aborted) throw error;
          this.#lastSyncUnavailable = true;
          return this.#listPages("", limit, signal);
        },
      );
      if (requestedVersion === "0" && pages > 1) this.#paginated = true;
      return this.#replace(objects, resourceVersion, { type: "Opening" });
    } catch (error) {
      if (!signal.aborted) this.#report("list", `failed to list ${this.#resource}`, error);
      return { type: "BackingOff", next: this.#relist() };
    }
  }

  #listPages(resourceVersion: string, limit: number | undefined, signal: AbortSignal): Promise<PagedList<T>> {
    const listPage = (query: PageQuery): Promise<List<DeepReadonly<T>>> => this.#listPage(query, signal);
    return listPages(listPage, { resourceVersion, limit });
  }

  async #listPage(query: PageQuery, signal: AbortSignal): Promise<List<DeepReadonly<T>>> {
    const deadline = new Deadline(this.#clock, signal, LIST_TIMEOUT_MS);
    try {
      const page: unknown = await this.#reader.list({
        ...this.#selection(),
        ...query,
        mapItem: (object) => this.#transformed(object),
        signal: deadline.signal,
      });
      signal.throwIfAborted();
      this.#lastContactMs = this.#clock.monotonic();
      return checkedList<T>(page);
    } finally {
      deadline.release();
    }
  }

  /** Hands the whole over. A target that throws has kept what it had, and the whole is asked for again. */
  #replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string, next: State<T>): State<T> {
    try {
      this.#target.replace(objects, resourceVersion);
    } catch (error) {
      this.#report("list", `failed to take in the list of ${this.#resource}`, error);
      return { type: "BackingOff", next: this.#relist() };
    }
    this.#lastSyncUnavailable = false;
    this.#lastSyncResourceVersion = resourceVersion;
    this.#startResync();
    return next;
  }

  async #open(signal: AbortSignal): Promise<State<T>> {
    try {
      const stream = await this.#openStream({ resourceVersion: this.#lastSyncResourceVersion }, signal);
      return { type: "Watching", stream };
    } catch (error) {
      if (!signal.aborted) this.#report("watch", `failed to watch ${this.#resource}`, error);
      // A server that is away or busy need not be asked for everything again.
      return { type: "BackingOff", next: isBusy(error) ? { type: "Opening" } : this.#relist() };
    }
  }

  async #watch(stream: WatchStream<T>, signal: AbortSignal): Promise<State<T>> {
    const end = await this.#read(stream, signal, ({ type, object }) => {
      const resourceVersion = resourceVersionOf(object);
      // Upstream takes it in, and its cache goes back in time until the next list.
      if (stream.inOrder && isOlder(resourceVersion, this.#lastSyncResourceVersion)) {
        const last = this.#lastSyncResourceVersion;
        this.#report(
          "event",
          `watch of ${this.#resource}: passed over what was sent again: ${resourceVersion} after ${last}`,
        );
        return "continue";
      }
      stream.inOrder ||= type !== "ADDED";
      // First, so that an event that cannot be taken in does not come again.
      if (stream.inOrder && resourceVersion !== "") this.#lastSyncResourceVersion = resourceVersion;
      this.#applyEvent(type, object);
      return "continue";
    });
    stream.close();
    if (end.type === "VeryShort") {
      this.#report(
        "watch",
        `very short watch of ${this.#resource}: Unexpected watch close - watch lasted less than a second and no items received`,
      );
      return { type: "BackingOff", next: this.#relist() };
    }
    if (end.type !== "Refused") return { type: "Opening" };
    if (isTooManyRequests(end.error)) return { type: "BackingOff", next: { type: "Opening" } };
    if (end.error.status.reason === "InternalError" && this.#internalErrors.allowsRetry()) return { type: "Opening" };
    // Every watch expires at some time; anything else should not happen.
    if (!isResourceExpired(end.error)) this.#report("watch", `watch of ${this.#resource} ended`, end.error);
    return { type: "BackingOff", next: this.#relist() };
  }

  #applyEvent(type: ObjectEvent<T>["type"], object: DeepReadonly<T>): void {
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        this.#target.apply(type, this.#transformed(object));
        break;
      case "BOOKMARK":
        this.#target.bookmark(resourceVersionOf(object));
        break;
      default:
        throw new Error(`unable to understand watch event ${JSON.stringify(type satisfies never)}`);
    }
  }

  #transformed(object: DeepReadonly<T>): DeepReadonly<T> {
    const { transform } = this.#options;
    return transform === undefined ? object : transform(object);
  }

  /**
   * Reads until the stream ends or `take` has enough. What `take` throws is reported, and that event is lost. After the
   * signal aborted, nothing more is taken.
   */
  async #read(
    stream: WatchStream<T>,
    signal: AbortSignal,
    take: (event: ObjectEvent<T>) => "continue" | "stop",
  ): Promise<StreamEnd> {
    const { events } = stream;
    for (;;) {
      let next: IteratorResult<WatchEvent<DeepReadonly<T>>>;
      try {
        next = await events.next();
      } catch {
        // A connection that broke: as good as closed.
        break;
      }
      if (signal.aborted || next.done === true) break;
      this.#lastContactMs = this.#clock.monotonic();
      const event = next.value as WatchEvent<DeepReadonly<T>> | null;
      if (event?.type === "ERROR") return { type: "Refused", error: statusError(event.object) };
      if (!this.#isExpected(event)) continue;
      stream.received++;
      try {
        if (take(event) === "stop") return { type: "Satisfied" };
      } catch (error) {
        const key = JSON.stringify(keyOfObject(event.object));
        this.#report("event", `failed to take in ${this.#resource} ${key}`, error);
      }
      if (++this.#eventsSinceYield === EVENTS_PER_YIELD) this.#pendingYield = this.#yieldToEventLoop();
      if (this.#eventsSinceYield >= 2 * EVENTS_PER_YIELD) {
        // What comes is a flood: everything else would wait for its end.
        await this.#pendingYield;
        if (signal.aborted) break;
      }
    }
    const veryShort = stream.received === 0 && this.#clock.monotonic() - stream.openedAtMs < VERY_SHORT_WATCH_MS;
    return { type: veryShort && !signal.aborted ? "VeryShort" : "Closed" };
  }

  async #yieldToEventLoop(): Promise<void> {
    await this.#clock.yieldToEventLoop();
    this.#eventsSinceYield = 0;
  }

  #isExpected(event: ObjectEvent<T> | null): event is ObjectEvent<T> {
    const object = event?.object as Partial<KubernetesObject> | null | undefined;
    const { kind } = this.#options.client.definition;
    if (object?.metadata !== undefined && !OBJECT_EVENTS.has(event?.type as string)) {
      this.#report("event", `watch of ${this.#resource}: unable to understand watch event ${excerpt(event?.type)}`);
      return false;
    }
    if (
      typeof object?.metadata === "object" &&
      object.metadata !== null &&
      typeof (object.metadata.resourceVersion ?? "") === "string" &&
      // A reader that does not know the kind beforehand says "".
      (object.kind === undefined || object.kind === kind || kind === "")
    )
      return true;
    this.#report("event", `watch of ${this.#resource}: expected a ${kind}, got ${describeUnexpected(object)}`);
    return false;
  }

  async #openStream(
    options: {
      resourceVersion: string | undefined;
      resourceVersionMatch?: "NotOlderThan";
      sendInitialEvents?: boolean;
    },
    signal: AbortSignal,
  ): Promise<WatchStream<T>> {
    const timeoutMs = this.#minWatchTimeoutMs * (1 + this.#options.random.next());
    const stream = await WatchStream.open(
      this.#reader,
      { ...this.#selection(), ...options, allowWatchBookmarks: true, timeoutSeconds: Math.floor(timeoutMs / 1000) },
      { clock: this.#clock, signal },
    );
    this.#lastContactMs = this.#clock.monotonic();
    return stream;
  }

  #createReader({ client, shard, onForeignObjects }: ReflectorOptions<T>): Reader<T> {
    if (shard === undefined) return client;
    const onError = (error: Error): void => this.#report("list", `sharding ${this.#resource}`, error);
    return new ShardReader(client, shard, { onForeignObjects, onError });
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #startResync(): void {
    this.#stopResync();
    if (this.#resyncMs > 0)
      this.#resyncTimer = this.#clock.setTimer(this.#resyncMs, () => this.#resync(), { background: true });
  }

  #resync(): void {
    this.#startResync();
    this.#target.resync();
  }

  #stopResync(): void {
    this.#resyncTimer?.cancel();
    this.#resyncTimer = undefined;
  }

  #report(step: InformerStep, what: string, cause?: unknown): void {
    this.#options.onError(new InformerError(step, what, cause));
  }
}

/** Types of events that carry an object. */
const OBJECT_EVENTS: ReadonlySet<string> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

type ObjectEvent<T> = Exclude<WatchEvent<DeepReadonly<T>>, { type: "ERROR" }>;

function isOlder(resourceVersion: string, other: string): boolean {
  const order = compareResourceVersions(resourceVersion, other);
  return order !== undefined && order < 0;
}

/** The server is not there, or asks for patience. */
function isBusy(error: unknown): boolean {
  return isConnectionRefused(error) || isTooManyRequests(error);
}

/** The resourceVersion asked for is too old or too new for this server. */
function isVersionUnavailable(error: unknown): boolean {
  return isResourceExpired(error) || isTooLargeResourceVersion(error);
}

function statusError(object: unknown): StatusError {
  if (isStatus(object)) return new StatusError(object);
  const message = `an ERROR event without a Status: ${excerpt(object)}`;
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "InternalError",
    code: 500,
  });
}

/** @throws Error when the answer is something else: taken as an empty list it would empty the cache. */
function checkedList<T extends KubernetesObject>(answer: unknown): List<DeepReadonly<T>> {
  const list = answer as Partial<List<DeepReadonly<T>>> & { readonly kind?: unknown };
  if (list?.kind === "Table") throw new Error("unsupported list gvk: a Table");
  const { items, metadata } = list ?? {};
  if ((Array.isArray(items) || items === null) && typeof metadata?.resourceVersion === "string")
    return list as List<DeepReadonly<T>>;
  throw new Error(`the answer is not a list: ${excerpt(answer)}`);
}

function describeUnexpected(object: Partial<KubernetesObject> | null | undefined): string {
  if (typeof object?.kind !== "string") return excerpt(object);
  return object.metadata == null ? `a ${object.kind} without metadata` : `a ${object.kind}`;
}

/** The beginning of it as JSON, for a person. */
function excerpt(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 200) ?? "nothing";
  } catch {
    // Nested deeper than the stack is.
    return "what cannot be shown";
  }
}
