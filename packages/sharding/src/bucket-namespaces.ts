import type { KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { NamespaceFeed, ReflectorTarget } from "@kubewright/informer";

/** A cache of a bucket, and what fills it. */
interface CacheFeed<T extends KubernetesObject> {
  readonly feed: NamespaceFeed<T>;
  readonly target: ReflectorTarget<T>;
}

interface TrackedCache {
  readonly cacheFeed: CacheFeed<KubernetesObject>;
  /** Namespaces that it was told of; `undefined`: of none, and not even that there are none. */
  namespaces: Set<string> | undefined;
}

const RETRY_MS = 1_000;

/** Brings the namespaces of one bucket into all its caches, those that come later into all at the same moment. */
export class BucketNamespaces {
  readonly #namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly #clock: Clock;
  readonly #caches = new Set<TrackedCache>();
  #isRunning = false;
  #hasChanged = false;
  /** Of all caches of the bucket. */
  #signal: AbortSignal | undefined;

  constructor(namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>, clock: Clock) {
    this.#namespacesOf = namespacesOf;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#caches.size === 0;
  }

  /** Keeps a cache filled until the signal, the same for all of a bucket, aborts. */
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

  /** There may be another namespace. */
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
        // It was told to whoever listens to the feed.
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
