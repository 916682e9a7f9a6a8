import type { Status } from "@kubewright/api";

import { ApiError, internalError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { Frame, ObjectMatcher, Watcher } from "../storage/watcher.js";

/** Where the events of a watch come from. */
export type FrameSource = Pick<Watcher, "abandon" | "closed" | "poll" | "ready">;

/** The objects as the watch's client sees them, in order. @throws ApiError */
type Convert = (objects: readonly StoredObject[]) => Awaitable<readonly StoredObject[]>;

/** Frames that are converted together. */
const MAX_BATCH = 500;

/**
 * The events of a watch whose objects a webhook has to convert: those that wait are converted together, and come when that is
 * done, in their order. What is selected is seen only then. A failure ends the watch with an error.
 *
 * @param watcher - Selects nothing by what conversions may change, and tells what was there before.
 */
export class ConvertedFrames implements FrameSource {
  readonly #watcher: Watcher;
  readonly #convertAll: Convert;
  readonly #matches: ObjectMatcher | undefined;
  /** To be read, from the index on. */
  #frames: readonly Frame[] = [];
  #index = 0;
  #converting: Promise<void> | undefined;
  #isAbandoned = false;
  /** Tells who is {@link ready} to read that nobody is any more. */
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

  /** Whether there was anything to take. */
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

  /** The event that the watch's client sees, if it sees any. */
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

  /** A watch that has been ended meanwhile ends as it was meant to. */
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
