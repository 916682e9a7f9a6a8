import {
  type DeepReadonly,
  type KubernetesObject,
  type Namespace,
  type ResourceDefinition,
  definitionKey,
  namespaces,
} from "@kubewright/api";
import type { ReaderFactory } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import {
  type AnyTransform,
  type InformerError,
  InformerFactory,
  type InformerFactoryOptions,
  type InformerMetricsProvider,
  type InformerSource,
  NamespaceFeed,
  type ReflectorTarget,
  SharedInformer,
} from "@kubewright/informer";

import type { Bucket } from "./bucket.js";
import { BucketNamespaces } from "./bucket-namespaces.js";
import { type BucketLayout, unsplitLayout } from "./layout.js";
import { relaySource } from "./relay-source.js";
import { repeat } from "./repeat.js";

export interface BucketInformersOptions {
  /** Used for reads only. */
  readonly client: ReaderFactory;
  readonly clock: Clock;
  readonly random: Random;
  /** The same layout as the member's. Default: no namespace is split. */
  readonly layout?: BucketLayout | undefined;
  readonly transform?: AnyTransform | undefined;
  /** Resync period of the informers. Default 0: no resync. */
  readonly resyncMs?: number | undefined;
  /** Label of the feeds' metrics, such as the program's name. */
  readonly informerName?: string | undefined;
  readonly metrics?: InformerMetricsProvider | undefined;
  /** Called for every failure. Default: logs to standard error, the same failure once a minute. */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/** Delay after the deletion of a namespace until no event of it can still arrive. */
const FORGET_DELAY_MS = 60_000;

/**
 * The caches of a member's buckets.
 *
 * Each resource has one watch for all namespaces of all the member's buckets. An API server that supports sharded
 * watches does not send the events of other shards. Each bucket has its own caches. They are filled by lists that are
 * newer than every write of the former owner, and end with the bucket.
 *
 * A new namespace is added to all caches of its bucket at the same moment, so that no controller sees owners without
 * their dependents.
 *
 * A bucket that is a part of a namespace has its own lists and watches of the whole namespace: each part costs as much
 * as the namespace.
 */
export class BucketInformers {
  readonly name = "informers of buckets";
  readonly #options: BucketInformersOptions;
  readonly #layout: BucketLayout;
  readonly #namespaces: SharedInformer<Namespace>;
  readonly #feeds = new Map<string, NamespaceFeed<KubernetesObject>>();
  /** Informers of cluster-scoped resources. */
  readonly #clusterWide: InformerFactory;
  readonly #bucketNamespaces = new Set<BucketNamespaces>();
  readonly #running: Promise<void>[] = [];
  #signal: AbortSignal | undefined;

  constructor(options: BucketInformersOptions) {
    this.#options = options;
    this.#layout = options.layout ?? unsplitLayout;
    const { client, clock, random, transform, onError, informerName, metrics } = options;
    this.#namespaces = new SharedInformer<Namespace>({
      client: client.resource(namespaces),
      clock,
      random: random.fork("namespaces of buckets"),
      transform: transform && ((namespace) => transform(namespace, namespaces)),
      onError,
    });
    this.#namespaces.addEventHandler({
      onAdd: () => this.#onNamespacesChange(),
      onDelete: () => void clock.setTimer(FORGET_DELAY_MS, () => this.#forgetDeletedNamespaces(), { background: true }),
    });
    const shared = { client, clock, random: random.fork("cluster-wide"), transform, onError, informerName, metrics };
    this.#clusterWide = new InformerFactory(shared);
  }

  /** Number of known namespaces of a bucket; 0 for a part of a namespace. */
  countNamespaces(bucket: Bucket): number {
    return this.#namespacesOf(bucket).length;
  }

  /** Runs the informers of all buckets until the signal aborts. Call it once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const feed of this.#feeds.values()) this.#running.push(feed.run(signal));
    await Promise.all([this.#namespaces.run(signal), this.#clusterWide.run(signal)]);
    await Promise.all(this.#running);
  }

  /**
   * Creates the caches of a bucket, to be run while this member owns it.
   *
   * @param onInformer - Called with every informer when it is created, before any other code can use it.
   */
  forBucket(bucket: Bucket, onInformer?: InformerFactoryOptions["onInformer"]): InformerFactory {
    const { client, clock, random, resyncMs, transform, onError } = this.#options;
    const part = this.#layout.namespacePartOf(bucket);
    const bucketNamespaces = new BucketNamespaces(async (signal) => {
      await this.#namespaces.waitForSync(signal);
      return this.#namespacesOf(bucket);
    }, clock);
    return new InformerFactory({
      client,
      clock,
      random: random.fork(`bucket ${this.#layout.nameOf(bucket)}`),
      resyncMs,
      transform,
      namespace: part?.namespace,
      consistentFirstList: true,
      onInformer,
      onError,
      createSource: (definition, target) =>
        !definition.namespaced
          ? relaySource(this.#clusterWide.informerFor(definition), target, clock)
          : part === undefined
            ? this.#source(definition, target, bucketNamespaces)
            : undefined,
    });
  }

  #source<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    target: ReflectorTarget<T>,
    bucketNamespaces: BucketNamespaces,
  ): InformerSource {
    const feed = this.#feedFor(definition);
    const { clock } = this.#options;
    return {
      get lastContactMs() {
        return feed.lastContactMs;
      },
      run: async (signal, resyncMs) => {
        repeat(clock, resyncMs, () => target.resync(), signal);
        this.#bucketNamespaces.add(bucketNamespaces);
        await bucketNamespaces.keepFilled({ feed, target }, signal);
        feed.removeTarget(target);
        if (bucketNamespaces.isEmpty) this.#bucketNamespaces.delete(bucketNamespaces);
      },
    };
  }

  #feedFor<T extends KubernetesObject>(definition: ResourceDefinition<T>): NamespaceFeed<T> {
    const { group, version, resource } = definition;
    const key = definitionKey(definition);
    const known = this.#feeds.get(key);
    if (known !== undefined) return known as unknown as NamespaceFeed<T>;
    const { client, clock, random, transform, informerName: name, metrics, onError } = this.#options;
    const measured = name === undefined ? undefined : metrics?.forInformer({ name, group, version, resource });
    measured?.countForeignObjects?.(0);
    const feed = new NamespaceFeed<T>({
      client: client.resource(definition),
      clock,
      random: random.fork(`feed ${key}`),
      ...(transform === undefined ? {} : { transform: (object: DeepReadonly<T>) => transform<T>(object, definition) }),
      onForeignObjects: (count) => measured?.countForeignObjects?.(count),
      onError,
    });
    this.#feeds.set(key, feed as unknown as NamespaceFeed<KubernetesObject>);
    if (this.#signal !== undefined) this.#running.push(feed.run(this.#signal));
    return feed;
  }

  #namespacesOf(bucket: Bucket): readonly string[] {
    const names = this.#namespaces.store.list().map(({ metadata }) => metadata.name ?? "");
    return names.filter((name) => this.#layout.bucketOf(name) === bucket);
  }

  #onNamespacesChange(): void {
    for (const bucketNamespaces of this.#bucketNamespaces) bucketNamespaces.wake();
  }

  #forgetDeletedNamespaces(): void {
    const known = new Set(this.#namespaces.store.list().map(({ metadata }) => metadata.name ?? ""));
    for (const bucketNamespaces of this.#bucketNamespaces)
      bucketNamespaces.forget((namespace) => !known.has(namespace));
  }
}
