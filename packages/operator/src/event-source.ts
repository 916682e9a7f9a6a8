import {
  type DeepReadonly,
  type KubernetesObject,
  type NamespacedName,
  type ObjectKey,
  keyOf,
  objectKey,
} from "@kubewright/api";
import { type Clock, type Logger, untilAborted } from "@kubewright/clock";

import type { Cache } from "./cache.js";

/** Names an object to reconcile: a key, a name with its namespace, or the object itself. */
export type EventTarget = ObjectKey | NamespacedName | DeepReadonly<KubernetesObject>;

/** Arguments of an {@link EventSource}. */
export interface SourceScope {
  readonly enqueue: (target: EventTarget) => void;
  /** Aborts when the controller stops. */
  readonly signal: AbortSignal;
  /** Not filled yet when the source starts. */
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Starts a source of events from outside the cluster, once in each run of the controller: while this process leads, or,
 * with sharding, for each bucket. It enqueues targets, or returns an async iterable of them. It may end early. An error
 * ends the operator.
 */
export type EventSource = (scope: SourceScope) => AsyncIterable<EventTarget> | Promise<void> | void;

export interface NamedEventSource {
  readonly name: string;
  readonly source: EventSource;
  readonly priority: number | undefined;
}

/** Resolves when the source has ended. An iterable is abandoned when the signal aborts. */
export async function runEventSource(source: EventSource, scope: SourceScope): Promise<void> {
  const { enqueue, signal } = scope;
  const started = source(scope);
  if (started === undefined || !(Symbol.asyncIterator in started)) return started;
  const iterator = started[Symbol.asyncIterator]();
  const consume = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true && !signal.aborted; next = await iterator.next())
      enqueue(next.value);
  };
  await Promise.race([consume(), untilAborted(signal)]);
  // A generator that waits for its next event ends after that, and is not awaited.
  if (signal.aborted) iterator.return?.().catch(() => undefined);
}

export function keyOfTarget(target: EventTarget): ObjectKey {
  if (typeof target === "string") return target;
  return "metadata" in target ? keyOf(target) : objectKey(target);
}
