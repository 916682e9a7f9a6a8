import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, qualifiedResource } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { Sender } from "@kubewright/cluster";
import { type SharedInformer, isDeletedFinalStateUnknown } from "@kubewright/informer";
import { CLUSTER_BUCKET, bucketOf } from "@kubewright/sharding";

import type { StoreMirror } from "./store-mirror.js";
import type { CacheEvent, World } from "./world.js";

interface WatchedCache {
  readonly sender: Sender;
  readonly resource: string;
  readonly store: SharedInformer<KubernetesObject>["store"];
  /** Objects that handlers have received and not seen deleted, by UID. */
  readonly delivered: Map<string, Cached>;
}

/** The caches of all components: their events, and their differences from the store. */
export class WatchedCaches {
  /** Caches of the latest incarnation, by process, component and, with sharding, bucket. */
  readonly #caches = new Map<string, { readonly incarnation: number; readonly caches: WatchedCache[] }>();
  readonly #clock: Pick<Clock, "now">;
  readonly #notify: (event: CacheEvent) => void;
  #count = 0;

  constructor(clock: Pick<Clock, "now">, notify: (event: CacheEvent) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  add(informer: SharedInformer<KubernetesObject>, definition: ResourceDefinition, sender: Sender): void {
    const { component, process, incarnation, bucket } = sender;
    const resource = qualifiedResource(definition);
    const place = `${process}/${component}/${bucket ?? ""}`;
    let known = this.#caches.get(place);
    if (known?.incarnation !== incarnation) this.#caches.set(place, (known = { incarnation, caches: [] }));
    const delivered = new Map<string, Cached>();
    known.caches.push({ sender, resource, store: informer.store, delivered });
    const cache = this.#count++;
    const notify = (type: CacheEvent["type"], object: Cached, previous?: Cached): void => {
      const atMs = this.#clock.now();
      const event = { atMs, component, process, incarnation, cache, resource, type, object };
      this.#notify(previous === undefined ? event : { ...event, previous });
    };
    informer.addEventHandler({
      onAdd: (object) => {
        delivered.set(uidOf(object), object);
        notify("add", object);
      },
      onUpdate: (previous, object) => {
        if (uidOf(previous) !== uidOf(object)) delivered.delete(uidOf(previous));
        delivered.set(uidOf(object), object);
        notify("update", object, previous);
      },
      onDelete: (deleted) => {
        const object = isDeletedFinalStateUnknown(deleted) ? deleted.object : deleted;
        if (object === undefined) return;
        delivered.delete(uidOf(object));
        notify("delete", object);
      },
    });
  }

  /**
   * @param options.runs - Reports whether the owner of a cache is running.
   * @param options.beforeMs - Later changes may still be on their way.
   */
  differences(
    mirror: StoreMirror,
    { runs, beforeMs }: { readonly runs: (sender: Sender) => boolean; readonly beforeMs: number },
  ): ReturnType<World["staleCaches"]> {
    const differences: { component: string; resource: string; difference: string }[] = [];
    for (const { caches } of this.#caches.values())
      for (const { sender, resource, store, delivered } of caches) {
        if (!runs(sender)) continue;
        const isDue = ({ metadata: { namespace = "", name = "" } }: Cached): boolean =>
          isOfBucket(namespace, sender.bucket) && mirror.changedMs(resource, namespace, name) <= beforeMs;
        const stored = mirror.list(resource).filter(isDue);
        const difference =
          differenceBetween(store.list().filter(isDue), stored) ??
          missedDeletion([...delivered.values()].filter(isDue), stored);
        if (difference !== undefined) differences.push({ component: sender.component, resource, difference });
      }
    return differences;
  }
}

/** Reports whether a bucket's cache contains a namespace; cluster-scoped objects are in all of them. */
function isOfBucket(namespace: string, bucket: number | undefined): boolean {
  return bucket === undefined || bucket === CLUSTER_BUCKET || namespace === "" || bucketOf(namespace) === bucket;
}

type Cached = DeepReadonly<KubernetesObject>;

function differenceBetween(cached: readonly Cached[], stored: readonly Cached[]): string | undefined {
  const versions = new Map(stored.map((object) => [nameOf(object), object.metadata.resourceVersion]));
  for (const object of cached) {
    const name = nameOf(object);
    const version = versions.get(name);
    const { resourceVersion } = object.metadata;
    if (version === undefined) return `${name} is not stored any more`;
    if (version !== resourceVersion) return `${name} is stored at ${version}, and cached at ${resourceVersion}`;
    versions.delete(name);
  }
  const [missing] = versions.keys();
  return missing === undefined ? undefined : `${missing} is not cached`;
}

/** Returns an object whose deletion no handler received. */
function missedDeletion(delivered: readonly Cached[], stored: readonly Cached[]): string | undefined {
  const names = new Set(stored.map(nameOf));
  const ghost = delivered.map(nameOf).find((name) => !names.has(name));
  return ghost === undefined ? undefined : `${ghost} is not stored any more, and no handler was notified`;
}

function uidOf({ metadata: { uid = "" } }: Cached): string {
  return uid;
}

function nameOf({ metadata: { namespace, name = "" } }: Cached): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
