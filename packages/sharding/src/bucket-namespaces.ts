import type { KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { NamespaceFeed, ReflectorTarget } from "@kubewright/informer";

/** A cache of a bucket, and the feed that fills it. */
interface CacheFeed<T extends KubernetesObject> {
  readonly feed: NamespaceFeed<T>;
  readonly target: ReflectorTarget<T>;
}

interface TrackedCache {
  readonly cacheFeed: CacheFeed<KubernetesObject>;
  /** Namespaces that the cache contains; `undefined`: the cache is not filled yet, not even with an empty list. */
  namespaces: Set<string> | undefined;
}

const RETRY_MS = 1_000;

/** Adds the namespaces of one bucket to all its caches, later namespaces to all caches at the same moment. */
export class BucketNamespaces {
  readonly #namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly #clock: Clock;
  readonly #caches = new Set<TrackedCache>();
  #isRunning = false;
  #hasChanged = false;
  /** Signal of all caches of the bucket. */
  #signal: AbortSignal | undefined;

  constructor(namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>, clock: Clock) {
    this.#namespacesOf = namespacesOf;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#caches.size === 0;
  }

  /** Keeps a cache filled until the signal aborts. All caches of a bucket have the same signal. */
  async keepFilled<T extends KubernetesObject>(cacheFeed: CacheFeed<T>, signal: AbortSignal): Promise<void> {
    const cache: TrackedCache = {
      cacheFeed: cacheFeed as unknown as CacheFeed<KubernetesObject>,
      namespaces: undefined,
    };
    this.#caches.add(cache);
    this.#signal = signal;
    this.wake();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    this.#caches.delete(cache);
  }

  /** Checks for new namespaces. */
  wake(): void {
    this.#hasChanged = true;
    if (!this.#isRunning && this.#signal !== undefined) void this.#run(this.#signal);
  }

  forget(isGone: (namespace: string) => boolean): void {
    for (const { cacheFeed, namespaces } of this.#caches) {
      const gone = [...(namespaces ?? [])].filter(isGone);
      for (const namespace of gone) namespaces!.delete(namespace);
      cacheFeed.feed.removeNamespaces(gone);
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false;
      try {
        await this.#addNamespaces(signal);
      } catch {
        // The feed has reported the error.
        this.#hasChanged = true;
        await this.#clock.sleep(RETRY_MS, signal, { background: true }).catch(() => undefined);
      }
    }
    this.#isRunning = false;
  }

  async #addNamespaces(signal: AbortSignal): Promise<void> {
    const all = await this.#namespacesOf(signal);
    const incomplete = [...this.#caches]
      .map((known) => ({ known, names: all.filter((name) => !known.namespaces?.has(name)) }))
      .filter(({ known, names }) => known.namespaces === undefined || names.length > 0);
    const isPrepared = (): boolean => incomplete.every(({ known, names }) => known.cacheFeed.feed.isPrepared(names));
    do {
      const prepared = incomplete.map(({ known: { cacheFeed }, names }) =>
        cacheFeed.feed.prepare(cacheFeed.target, names, signal),
      );
      await Promise.all(prepared);
      signal.throwIfAborted();
    } while (!isPrepared());
    for (const { known, names } of incomplete) {
      known.cacheFeed.feed.activate(known.cacheFeed.target, names);
      known.namespaces = new Set([...(known.namespaces ?? []), ...names]);
    }
  }
}
