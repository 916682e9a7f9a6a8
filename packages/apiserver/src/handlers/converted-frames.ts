import type { Status } from "@kubewright/api";

import { ApiError, internalError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { Frame, ObjectMatcher, Watcher } from "../storage/watcher.js";

/** Source of a watch's events. */
export type FrameSource = Pick<Watcher, "abandon" | "closed" | "poll" | "ready">;

/**
 * Converts objects to the version of the watch, in order.
 *
 * @throws ApiError
 */
type Convert = (objects: readonly StoredObject[]) => Awaitable<readonly StoredObject[]>;

/** Maximum number of frames converted together. */
const MAX_BATCH = 500;

/**
 * Events of a watch whose objects a webhook converts. Pending frames are converted in batches and delivered in order.
 * Selectors apply after the conversion. A failed conversion ends the watch with an error.
 *
 * @param watcher - Must not select by anything that a conversion may change, and must include previous objects.
 */
export class ConvertedFrames implements FrameSource {
  readonly #watcher: Watcher;
  readonly #convertAll: Convert;
  readonly #matches: ObjectMatcher | undefined;
  /** Converted frames; those from the index on are not read yet. */
  #frames: readonly Frame[] = [];
  #index = 0;
  #converting: Promise<void> | undefined;
  #isAbandoned = false;
  /** Resolves a pending {@link ready} when the watch is abandoned. */
  #onAbandon: (() => void) | undefined;

  constructor(watcher: Watcher, convertAll: Convert, matches: ObjectMatcher | undefined) {
    this.#watcher = watcher;
    this.#convertAll = convertAll;
    this.#matches = matches;
  }

  get closed(): boolean {
    const isRead = this.#converting === undefined && this.#index === this.#frames.length;
    return this.#isAbandoned || (this.#watcher.closed && isRead);
  }

  poll(): Frame | undefined {
    while (this.#index === this.#frames.length) {
      if (this.#converting !== undefined || !this.#takeNext()) return undefined;
    }
    return this.#frames[this.#index++];
  }

  ready(): Promise<void> {
    const converting = this.#converting;
    if (converting === undefined) return this.#watcher.ready();
    return new Promise((resolve) => {
      this.#onAbandon = resolve;
      void converting.then(resolve);
    });
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#frames = [];
    this.#index = 0;
    this.#watcher.abandon();
    this.#onAbandon?.();
  }

  /** Takes the next batch. Returns whether there was one. */
  #takeNext(): boolean {
    const taken: Frame[] = [];
    for (let frame = this.#watcher.poll(); frame !== undefined; frame = this.#watcher.poll())
      if (taken.push(frame) === MAX_BATCH) break;
    if (taken.length === 0) return false;
    const converted = this.#convert(taken);
    if (!(converted instanceof Promise)) this.#enqueue(converted);
    else
      this.#converting = converted.then(
        (frames) => this.#enqueue(frames),
        (error: unknown) => this.#fail(error),
      );
    return true;
  }

  #convert(frames: readonly Frame[]): Awaitable<readonly Frame[]> {
    const objects = frames.flatMap((frame) => objectsOf(frame, this.#matches !== undefined));
    return andThen(this.#convertAll(objects), (converted) => {
      const found = new Map(objects.map((stored, index) => [stored, converted[index]!]));
      return frames.flatMap((frame) => this.#convertFrame(frame, (stored) => found.get(stored)!));
    });
  }

  /** Returns the event that the client sees, if any. */
  #convertFrame(frame: Frame, convert: (stored: StoredObject) => StoredObject): Frame | [] {
    if (frame.type === "BOOKMARK" || frame.type === "ERROR") return frame;
    const { type, previous } = frame;
    const stored = convert(frame.stored);
    const matches = this.#matches;
    if (matches === undefined) return { type, stored };
    const matchesNow = matches(stored.object);
    if (type !== "MODIFIED" || previous === undefined) return matchesNow ? { type, stored } : [];
    const before = convert(previous);
    const matchedBefore = matches(before.object);
    if (matchesNow) return { type: matchedBefore ? "MODIFIED" : "ADDED", stored };
    return matchedBefore ? { type: "DELETED", stored: before } : [];
  }

  #enqueue(frames: readonly Frame[]): void {
    this.#converting = undefined;
    if (this.#isAbandoned) return;
    this.#frames = frames;
    this.#index = 0;
  }

  /** A watch that ended during the conversion keeps its own end. */
  #fail(error: unknown): void {
    const isEnding = this.#watcher.closed;
    const ends: Frame[] = [];
    for (let frame = this.#watcher.poll(); frame !== undefined; frame = this.#watcher.poll())
      if (frame.type === "ERROR") ends.push(frame);
    this.#watcher.abandon();
    this.#enqueue(isEnding ? ends : [{ type: "ERROR", status: statusOf(error) }]);
  }
}

function statusOf(error: unknown): Status {
  return (error instanceof ApiError ? error : internalError((error as Error).message)).status;
}

function objectsOf(frame: Frame, withPrevious: boolean): StoredObject[] {
  if (frame.type === "BOOKMARK" || frame.type === "ERROR") return [];
  const { stored, previous } = frame;
  return withPrevious && previous !== undefined ? [stored, previous] : [stored];
}
