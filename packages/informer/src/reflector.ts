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
import { type Clock, type Random, type Timer, untilAborted } from "@kubewright/clock";

import { Backoff } from "./backoff.js";
import { Deadline } from "./deadline.js";
import { InformerError, type InformerStep } from "./informer-error.js";
import { type PagedList, type PageQuery, listPages } from "./list-pages.js";
import { keyOfObject, metadataOf, resourceVersionOf } from "./object-metadata.js";
import { RetryWindow } from "./retry-window.js";
import type { Transform } from "./transform.js";
import { WatchStream } from "./watch-stream.js";

/** Receives the objects of a reflector. If a method throws, its error is reported and the reflector continues. */
export interface ReflectorTarget<T extends KubernetesObject> {
  /** Replaces all objects, as of a resourceVersion. */
  replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string): void;
  /** Applies one change. The type is the server's; the target may have another state of the object. */
  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: DeepReadonly<T>): void;
  /** Records that nothing changed up to this resourceVersion. */
  bookmark(resourceVersion: string): void;
  /** Called when a resync period has passed. */
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
   * Restricts the cache to this shard. The server is asked to filter, and foreign objects never enter the cache. The
   * shard never changes: another shard needs another informer, which lists again.
   */
  readonly shard?: ShardSelector | undefined;
  /** Called with the number of objects of other shards that arrived. Default: no call. */
  readonly onForeignObjects?: ((count: number) => void) | undefined;
  /**
   * Whether the first list is a consistent read, and not served from the server's watch cache. For components that
   * continue the work of another process. Default false, as in client-go.
   */
  readonly consistentFirstList?: boolean | undefined;
  readonly transform?: Transform<T> | undefined;
  /** Minimum duration of a watch; the maximum is twice that. Default and minimum: 5 minutes. */
  readonly minWatchTimeoutMs?: number | undefined;
  /** Whether to ask the server to stream the initial list, with a list request as fallback. Default true. */
  readonly watchList?: boolean | undefined;
  /**
   * How long, from the first InternalError on, a watch that ends with an InternalError is reopened immediately. Default
   * 0: never.
   */
  readonly internalErrorRetryMs?: number | undefined;
  readonly onError: (error: InformerError) => void;
}

/** The next step of a reflector. Only `Watching` holds an open stream. */
type State<T extends KubernetesObject> =
  /** Request the initial list as a stream that stays open. `attempts` streams in a row were cut off. */
  | { readonly type: "Streaming"; readonly attempts: number }
  /** Request the whole list. */
  | { readonly type: "Listing" }
  /** Open a watch from the last resourceVersion. */
  | { readonly type: "Opening" }
  | { readonly type: "Watching"; readonly stream: WatchStream<T> }
  | { readonly type: "BackingOff"; readonly next: State<T> };

/** How reading a stream ended. */
type StreamEnd =
  | { readonly type: "Closed" }
  /** Closed within a second, without events. */
  | { readonly type: "VeryShort" }
  /** The server sent an ERROR event. */
  | { readonly type: "Refused"; readonly error: StatusError }
  /** The reader stopped; the stream is still open. */
  | { readonly type: "Satisfied" };

/** Page size of a list. The server's watch cache ignores it. */
const PAGE_SIZE = 500;
const MIN_WATCH_TIMEOUT_MS = 300_000;
const VERY_SHORT_WATCH_MS = 1000;
const LIST_TIMEOUT_MS = 300_000;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/**
 * After this many events the reflector requests a yield to the event loop. After twice as many without a completed
 * yield, it waits for the yield.
 */
const EVENTS_PER_YIELD = 512;

/**
 * Keeps a target up to date with one resource. Lists, watches, and after an error watches or lists again, until its
 * signal aborts. A state machine: {@link run} performs one state after the other, and each returns the next.
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
  /** Whether the server could not serve `lastSyncResourceVersion` at the last request for it. */
  #lastSyncUnavailable = false;
  /** A list at "0" was paged, so the server has no watch cache to serve large responses from. */
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

  /** The resourceVersion of the last applied list, event or bookmark; `""` before the first. */
  get lastSyncResourceVersion(): string {
    return this.#lastSyncResourceVersion;
  }

  /** Monotonic time in milliseconds when the server last sent something; `undefined` if it has sent nothing. */
  get lastContactMs(): number | undefined {
    return this.#lastContactMs;
  }

  /**
   * Runs until the signal aborts, then resolves immediately. Never rejects. After the abort nothing reaches the target,
   * even if the transport ends the stream late. Keeps the process alive meanwhile.
   *
   * @param resyncMs - Period of the target's resyncs during a watch; 0: never.
   */
  async run(signal: AbortSignal, resyncMs = 0): Promise<void> {
    if (signal.aborted) return;
    this.#resyncMs = resyncMs;
    const release = this.#clock.keepAlive();
    await Promise.race([this.#loop(signal), untilAborted(signal)]);
    this.#stopResync();
    release();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    let state: State<T> = this.#relist();
    while (!signal.aborted) {
      try {
        state = await this.#perform(state, signal);
      } catch (error) {
        // No known error gets here. An unknown one must not end the informer.
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

  /**
   * Requests the initial list as a watch. Collects the objects until the server marks the end, then replaces the
   * target's content with them.
   */
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
      // The server sent an older version of the object again.
      if (known !== undefined && isOlder(resourceVersionOf(object), resourceVersionOf(known))) return "continue";
      if (type === "DELETED") collected.delete(key);
      else collected.set(key, this.#transformed(object));
      return "continue";
    });
    if (end.type === "Satisfied") {
      // The initial objects are not ordered by version. Later events are.
      stream.inOrder = true;
      const next = this.#replace(collected.values(), endVersion, { type: "Watching", stream });
      if (next.type !== "Watching") stream.close();
      return next;
    }
    stream.close();
    if (end.type === "Refused") return this.#handleStreamError(end.error, attempts);
    if (end.type === "VeryShort") return { type: "Listing" };
    const restart: State<T> = { type: "Streaming", attempts: attempts + 1 };
    // Upstream retries immediately after every cut-off. This reflector does so once, then backs off.
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
    // The server does not stream lists: use a list request this time. The next time may be different.
    return { type: "Listing" };
  }

  async #list(signal: AbortSignal): Promise<State<T>> {
    const initialVersion = this.#options.consistentFirstList === true ? "" : "0";
    const requestedVersion = this.#lastSyncUnavailable ? "" : this.#lastSyncResourceVersion || initialVersion;
    // The server can serve a full list at a specific version from its watch cache, but never pages.
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

  /**
   * Passes the whole list to the target. A target that throws must keep its previous content; the list is then
   * requested again.
   */
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
      // A server that is unavailable or busy does not require a relist.
      return { type: "BackingOff", next: isBusy(error) ? { type: "Opening" } : this.#relist() };
    }
  }

  async #watch(stream: WatchStream<T>, signal: AbortSignal): Promise<State<T>> {
    const end = await this.#read(stream, signal, ({ type, object }) => {
      const resourceVersion = resourceVersionOf(object);
      // Upstream applies the event, and its cache goes back in time until the next list.
      if (stream.inOrder && isOlder(resourceVersion, this.#lastSyncResourceVersion)) {
        const last = this.#lastSyncResourceVersion;
        this.#report(
          "event",
          `watch of ${this.#resource}: passed over what was sent again: ${resourceVersion} after ${last}`,
        );
        return "continue";
      }
      stream.inOrder ||= type !== "ADDED";
      // Set before applying, so that an event that cannot be applied is not sent again.
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
    // Every watch expires at some time. Other errors are unexpected.
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
   * Reads until the stream ends or `take` returns "stop". Errors of `take` are reported, and that event is lost. After
   * an abort of the signal no event is taken.
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
        // A broken connection is handled like a closed one.
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
        // A burst of events would starve everything else until its end.
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
      // A reader that does not know the kind has "".
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

/** Whether the server is unavailable, or asks the client to back off. */
function isBusy(error: unknown): boolean {
  return isConnectionRefused(error) || isTooManyRequests(error);
}

/** Whether the requested resourceVersion is too old or too new for the server. */
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

/** @throws Error if the response is not a list: read as an empty list, it would empty the cache. */
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

/** Returns the beginning of the value's JSON for an error message. */
function excerpt(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 200) ?? "nothing";
  } catch {
    // Nested deeper than the call stack allows.
    return "what cannot be shown";
  }
}
