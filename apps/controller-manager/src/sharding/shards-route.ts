import type { BucketInformers, BucketLayout, ShardStatus } from "@kubewright/sharding";

import { jsonReply } from "../serving/http-message.js";
import type { Route } from "../serving/router.js";

/** What a replica knows of the namespaces of buckets. */
export interface ShardedCaches {
  readonly layout: BucketLayout;
  readonly informers: Pick<BucketInformers, "countNamespaces">;
}

/**
 * `/shards`: the members, and who has which bucket, as this replica knows it; of its own buckets also their state. Buckets tell how many
 * namespaces they have, parts of a namespace which one.
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
