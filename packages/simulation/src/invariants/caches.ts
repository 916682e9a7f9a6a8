import { compareResourceVersions } from "@kubewright/api";

import type { Invariant, InvariantChecks, Violated } from "../invariant.js";
import type { CacheEvent } from "../world.js";
import { nameOf, uidOf } from "./stored-objects.js";

/** Maximum time until a cache shows the stored state. */
const HEALED_MS = 60_000;

/** Upstream: client-go, tools/cache: the reflector, DeltaFIFO and the shared informer's processor. */
export const cachesAreMonotonic: Invariant = {
  name: "S17 caches are monotonic",
  sentence:
    "No informer delivers an older version of an object after a newer one, or an object after its deletion. For " +
    "each object it delivers an add, then updates, then a delete. At rest every cache equals the store.",
  watch(world, violated): InvariantChecks {
    const caches = new Map<number, Cache>();
    const changedMs = new Map<string, number>();
    return {
      onChange({ resource, object: { metadata }, atMs }) {
        changedMs.set(`${resource} ${metadata.namespace ?? ""}/${metadata.name}`, atMs);
      },
      onCacheEvent(event) {
        let cache = caches.get(event.cache);
        if (cache === undefined) caches.set(event.cache, (cache = new Cache(violated)));
        cache.onEvent(event);
      },
      atRest() {
        for (const { component, resource, difference } of world.staleCaches()) {
          // A recent change may still be on its way.
          const [name = ""] = difference.split(" ", 1);
          const lastMs = changedMs.get(`${resource} ${name.includes("/") ? name : `/${name}`}`) ?? -Infinity;
          if (Math.max(lastMs, world.healedMs) > world.nowMs - HEALED_MS) continue;
          violated(`${component}'s ${resource}`, `at rest differs from what is stored: ${difference}`);
        }
      },
    };
  },
};

/** What one informer delivered to its handlers. */
class Cache {
  readonly #violated: Violated;
  /** Last delivered version of each object, by UID. */
  readonly #versions = new Map<string, string>();
  readonly #deleted = new Set<string>();

  constructor(violated: Violated) {
    this.#violated = violated;
  }

  onEvent(event: CacheEvent): void {
    const { type, object, previous } = event;
    // An object was deleted and recreated under the same name while the watch was interrupted: handlers get an update.
    if (type === "update" && previous !== undefined && uidOf(previous) !== uidOf(object)) {
      this.#remove(event, uidOf(previous));
      this.#add(event);
      return;
    }
    if (type === "add") this.#add(event);
    else if (type === "update") this.#update(event);
    else this.#remove(event, uidOf(object));
  }

  #add(event: CacheEvent): void {
    const uid = uidOf(event.object);
    if (this.#versions.has(uid)) this.#refuse(event, "is added again");
    if (this.#deleted.has(uid)) this.#refuse(event, "comes back after it was deleted");
    this.#versions.set(uid, event.object.metadata.resourceVersion ?? "");
  }

  #update(event: CacheEvent): void {
    const uid = uidOf(event.object);
    const version = event.object.metadata.resourceVersion ?? "";
    const before = this.#versions.get(uid);
    if (this.#deleted.has(uid)) this.#refuse(event, "comes back after it was deleted");
    else if (before === undefined) this.#refuse(event, "is updated before it is added");
    else if ((compareResourceVersions(version, before) ?? 0) < 0)
      this.#refuse(event, `goes back from version ${before} to ${version}`);
    this.#versions.set(uid, version);
  }

  #remove(event: CacheEvent, uid: string): void {
    if (!this.#versions.delete(uid)) this.#refuse(event, "is deleted without having been added");
    this.#deleted.add(uid);
  }

  #refuse({ component, process, resource, object }: CacheEvent, message: string): void {
    const who = process === "" ? component : `${component} of ${process}`;
    this.#violated(nameOf(object, resource), `in the cache of ${who} ${message}`);
  }
}
