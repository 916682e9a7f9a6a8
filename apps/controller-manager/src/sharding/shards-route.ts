import type { BucketInformers, BucketLayout, ShardStatus } from "@kubewright/sharding";

import { jsonReply } from "../serving/http-message.js";
import type { Route } from "../serving/router.js";

/** A replica's layout and number of namespaces per bucket. */
export interface ShardedCaches {
  readonly layout: BucketLayout;
  readonly informers: Pick<BucketInformers, "countNamespaces">;
}

/**
 * `/shards`: the members and the owner of each bucket, in the view of this replica, and the state of its own buckets. A
 * bucket has its number of namespaces, a part of a namespace has the namespace's name.
 */
export function shardsRoute(status: () => ShardStatus, { layout, informers }: ShardedCaches): Route {
  return {
    path: "/shards",
    handle: () => {
      const { buckets, ...rest } = status();
      const described = buckets.map(({ state, ...bucket }, number) => {
        const part = layout.namespacePartOf(number);
        return {
          ...bucket,
          ...(state === undefined ? {} : { state }),
          ...(part === undefined ? { namespaces: informers.countNamespaces(number) } : { namespace: part.namespace }),
        };
      });
      return jsonReply(200, { ...rest, buckets: described });
    },
  };
}
