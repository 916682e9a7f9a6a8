import type { KubernetesObject } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import { type InformerSource, type ReflectorTarget, type SharedInformer, deletedObject } from "@kubewright/informer";

import { repeat } from "./repeat.js";

/** Fills a cache from another informer: all buckets have the same cluster-scoped objects. */
export function relaySource<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  target: ReflectorTarget<T>,
  clock: Clock,
): InformerSource {
  return {
    get lastContactMs() {
      const { sinceContactMs } = informer;
      return sinceContactMs === undefined ? undefined : clock.monotonic() - sinceContactMs;
    },
    run: async (signal, resyncMs) => {
      await informer.waitForSync(signal).catch(() => undefined);
      if (signal.aborted) return;
      const { store } = informer;
      target.replace(store.list(), store.lastStoreSyncResourceVersion);
      let isSubscribed = false;
      const registration = informer.addEventHandler(
        {
          // Existing objects are delivered synchronously, and were part of `replace`.
          onAdd: (object) => isSubscribed && target.apply("ADDED", object),
          onUpdate: (_, object) => target.apply("MODIFIED", object),
          onDelete: (deleted) => {
            const object = deletedObject(deleted);
            if (object !== undefined) target.apply("DELETED", object);
          },
        },
        { resyncMs: 0 },
      );
      isSubscribed = true;
      repeat(clock, resyncMs, () => target.resync(), signal);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      registration.remove();
    },
  };
}
