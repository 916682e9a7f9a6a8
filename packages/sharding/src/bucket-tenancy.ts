import type { KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { NamespaceFeed, ReflectorTarget } from "@kubewright/informer";

/** A cache of a bucket, and what fills it. */
interface Tenant<T extends KubernetesObject> {
  readonly feed: NamespaceFeed<T>;
  readonly target: ReflectorTarget<T>;
}

interface Known {
  readonly tenant: Tenant<KubernetesObject>;
  /** Namespaces that it was told of; `undefined`: of none, and not even that there are none. */
  namespaces: Set<string> | undefined;
}

const RETRY_MS = 1_000;

/** Brings the namespaces of one bucket into all its caches, those that come later into all at the same moment. */
export class BucketTenancy {
  readonly #namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly #clock: Clock;
  readonly #known = new Set<Known>();
  #isWorking = false;
  #hasChanged = false;
  /** Of all caches of the bucket. */
  #signal: AbortSignal | undefined;

  constructor(namespacesOf: (signal: AbortSignal) => Promise<readonly string[]>, clock: Clock) {
    this.#namespacesOf = namespacesOf;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Keeps a cache filled until the signal, the same for all of a bucket, aborts. */
  async keep<T extends KubernetesObject>(tenant: Tenant<T>, signal: AbortSignal): Promise<void> {
    const known: Known = { tenant: tenant as unknown as Tenant<KubernetesObject>, namespaces: undefined };
    this.#known.add(known);
    this.#signal = signal;
    this.wake();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    this.#known.delete(known);
  }

  /** There may be another namespace. */
  wake(): void {
    this.#hasChanged = true;
    if (!this.#isWorking && this.#signal !== undefined) void this.#work(this.#signal);
  }

  forget(isGone: (namespace: string) => boolean): void {
    for (const { tenant, namespaces } of this.#known) {
      const gone = [...(namespaces ?? [])].filter(isGone);
      for (const namespace of gone) namespaces!.delete(namespace);
      tenant.feed.removeNamespaces(gone);
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    this.#isWorking = true;
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false;
      try {
        await this.#bringIn(signal);
      } catch {
        // It was told to whoever listens to the feed.
        this.#hasChanged = true;
        await this.#clock.sleep(RETRY_MS, signal, { background: true }).catch(() => undefined);
      }
    }
    this.#isWorking = false;
  }

  async #bringIn(signal: AbortSignal): Promise<void> {
    const all = await this.#namespacesOf(signal);
    const lacking = [...this.#known]
      .map((known) => ({ known, names: all.filter((name) => !known.namespaces?.has(name)) }))
      .filter(({ known, names }) => known.namespaces === undefined || names.length > 0);
    const isPrepared = (): boolean => lacking.every(({ known, names }) => known.tenant.feed.isPrepared(names));
    do {
      const prepared = lacking.map(({ known: { tenant }, names }) => tenant.feed.prepare(tenant.target, names, signal));
      await Promise.all(prepared);
      signal.throwIfAborted();
    } while (!isPrepared());
    for (const { known, names } of lacking) {
      known.tenant.feed.activate(known.tenant.target, names);
      known.namespaces = new Set([...(known.namespaces ?? []), ...names]);
    }
  }
}
