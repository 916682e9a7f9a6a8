import type { DeepReadonly, KubernetesObject, Status } from "@kubewright/api";

import type { Backlog, Reader } from "./backlog.js";
import type { Change } from "./change.js";
import type { Interest } from "./listener-index.js";
import type { ChangeListener } from "./resource-storage.js";
import type { StoredObject } from "./stored-object.js";

/** Whether an object is relevant to a watcher. */
export type ObjectMatcher = (object: DeepReadonly<KubernetesObject>) => boolean;

/** One event of a watcher, before conversion to the client's format. */
export type Frame =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly stored: StoredObject;
      /** The previous object with the change's resourceVersion. Only for MODIFIED, with `includePrevious`. */
      readonly previous?: StoredObject;
    }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: number; readonly initialEventsEnd: boolean }
  | { readonly type: "ERROR"; readonly status: Status };

/**
 * Maximum number of queued frames; beyond it the watcher is cut off. A client that is cut off resumes at the last
 * version it saw.
 */
export const WATCH_BUFFER_LIMIT = 20_000;

/** A longer queue array is not reused. */
const LONG_QUEUE = 100;

export interface WatcherOptions {
  /** `undefined`: all namespaces. */
  readonly namespace: string | undefined;
  readonly matches: ObjectMatcher | undefined;
  /** Must be true for all objects that {@link matches} accepts. */
  readonly interest?: Interest | undefined;
  /** User agent of the client. */
  readonly userAgent?: string;
  /** Whether frames contain the previous object. Default false. */
  readonly includePrevious?: boolean;
  readonly bufferLimit?: number;
  /** Counts the objects queued in all watchers, and cuts off the watcher that is furthest behind. */
  readonly backlog: Backlog;
  /** Called once, when the watch ends for any reason. */
  readonly onClose?: () => void;
}

/** A client's watch of a resource: filters changes, queues them up to a limit, and returns them one by one. */
export class Watcher implements ChangeListener, Reader {
  readonly interest: Interest | undefined;
  readonly userAgent: string | undefined;
  readonly #namespace: string | undefined;
  readonly #matches: ObjectMatcher | undefined;
  readonly #includePrevious: boolean;
  readonly #bufferLimit: number;
  readonly #onClose: (() => void) | undefined;
  readonly #backlog: Backlog;
  /** Existing objects still to be sent as ADDED; they do not count against the buffer limit. */
  #initial: readonly StoredObject[] = [];
  #initialIndex = 0;
  #initialVersion = 0;
  /**
   * Queued frames are between the two indexes. The array is reused, because most frames are read before the next one
   * arrives.
   */
  #queue: (Frame | undefined)[] = [];
  #queueIndex = 0;
  #queueEnd = 0;
  #wake: (() => void) | undefined;
  #closed = false;
  /** All changes up to this version are queued. */
  #seenVersion = 0;

  constructor(options: WatcherOptions) {
    this.#namespace = options.namespace;
    this.interest = options.interest;
    this.userAgent = options.userAgent;
    this.#matches = options.matches;
    this.#includePrevious = options.includePrevious ?? false;
    this.#bufferLimit = options.bufferLimit ?? WATCH_BUFFER_LIMIT;
    this.#onClose = options.onClose;
    this.#backlog = options.backlog;
    this.#backlog.join(this);
  }

  get seenVersion(): number {
    return this.#seenVersion;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get oldestVersion(): number | undefined {
    if (this.#initialIndex < this.#initial.length) return this.#initialVersion;
    const frame = this.#queue[this.#queueIndex];
    if (this.#queueIndex === this.#queueEnd || frame === undefined) return undefined;
    return frame.type === "ERROR" ? this.#seenVersion : versionOf(frame);
  }

  /** Sends the matching objects of these first. Call before any other method. */
  start(initial: readonly StoredObject[], resourceVersion: number): void {
    this.#initial = initial;
    this.#initialVersion = resourceVersion;
    this.#seenVersion = resourceVersion;
    for (const stored of initial) this.#backlog.hold(stored);
  }

  /** Sends only changes after the version. */
  startAfter(resourceVersion: number): void {
    this.#seenVersion = resourceVersion;
  }

  onChange(change: Change): void {
    // A watch may start at a future version.
    if (this.#closed || change.resourceVersion <= this.#seenVersion) return;
    const { previous, current } = change;
    if (this.#namespace !== undefined && change.subject.namespace !== this.#namespace) return;
    const matches = this.#matches;
    const matchedBefore = previous !== undefined && (matches === undefined || matches(previous.object));
    const matchesNow = current !== undefined && (matches === undefined || matches(current.object));
    if (!matchedBefore && !matchesNow) return;
    this.#seenVersion = change.resourceVersion;
    if (matchesNow && matchedBefore && this.#includePrevious)
      this.#push({ type: "MODIFIED", stored: current, previous: change.last });
    else if (matchesNow) this.#push({ type: matchedBefore ? "MODIFIED" : "ADDED", stored: current });
    else this.#push({ type: "DELETED", stored: change.last });
  }

  observes({ namespace, object }: StoredObject): boolean {
    if (this.#closed || (this.#namespace !== undefined && namespace !== this.#namespace)) return false;
    return this.#matches === undefined || this.#matches(object);
  }

  bookmark(resourceVersion: number, initialEventsEnd = false): void {
    if (this.#closed) return;
    this.#seenVersion = Math.max(this.#seenVersion, resourceVersion);
    this.#push({ type: "BOOKMARK", resourceVersion, initialEventsEnd });
  }

  /** Sends the error and ends the stream. */
  fail(status: Status): void {
    this.#push({ type: "ERROR", status });
    this.#end();
  }

  /** Ends the stream after the queued frames. */
  close(): void {
    this.#end();
  }

  /** Ends the stream and drops the queued frames, because the reader is gone. */
  abandon(): void {
    for (; this.#initialIndex < this.#initial.length; this.#initialIndex++)
      this.#backlog.release(this.#initial[this.#initialIndex]!);
    this.#initial = [];
    for (; this.#queueIndex < this.#queueEnd; this.#queueIndex++) this.#release(this.#queue[this.#queueIndex]!);
    this.#resetQueue();
    this.#end();
    this.#backlog.leave(this);
  }

  /**
   * As upstream: a watcher that cannot keep up is closed without an error, and the client resumes at the last version
   * it saw.
   */
  cutOff(): void {
    this.abandon();
  }

  /** Returns the next frame; `undefined` when none is queued. */
  poll(): Frame | undefined {
    while (this.#initialIndex < this.#initial.length) {
      const stored = this.#initial[this.#initialIndex++]!;
      this.#backlog.release(stored);
      if (this.#matches === undefined || this.#matches(stored.object)) return { type: "ADDED", stored };
    }
    if (this.#initial.length > 0) this.#initial = [];
    if (this.#queueIndex === this.#queueEnd) {
      if (this.#closed) this.#backlog.leave(this);
      return undefined;
    }
    const frame = this.#queue[this.#queueIndex]!;
    this.#queue[this.#queueIndex++] = undefined;
    this.#release(frame);
    if (this.#queueIndex === this.#queueEnd) {
      if (this.#queueEnd > LONG_QUEUE) this.#resetQueue();
      else this.#queueIndex = this.#queueEnd = 0;
    }
    return frame;
  }

  /** Resolves when {@link poll} has a frame, or the stream has ended. One caller at a time. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #push(frame: Frame): void {
    if (this.#closed) return;
    if (this.#queueEnd - this.#queueIndex >= this.#bufferLimit) {
      this.cutOff();
      return;
    }
    this.#queue[this.#queueEnd++] = frame;
    if (!isObject(frame)) return this.#notify();
    this.#backlog.hold(frame.stored);
    if (frame.previous !== undefined) this.#backlog.hold(frame.previous);
    this.#notify();
  }

  #release(frame: Frame): void {
    if (!isObject(frame)) return;
    this.#backlog.release(frame.stored);
    if (frame.previous !== undefined) this.#backlog.release(frame.previous);
  }

  #resetQueue(): void {
    this.#queue = [];
    this.#queueIndex = this.#queueEnd = 0;
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.oldestVersion === undefined) this.#backlog.leave(this);
    this.#onClose?.();
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function isObject(frame: Frame): frame is Extract<Frame, { stored: StoredObject }> {
  return frame.type !== "BOOKMARK" && frame.type !== "ERROR";
}

function versionOf(frame: Exclude<Frame, { type: "ERROR" }>): number {
  return frame.type === "BOOKMARK" ? frame.resourceVersion : frame.stored.resourceVersion;
}
