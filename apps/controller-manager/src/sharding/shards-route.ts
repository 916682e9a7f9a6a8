import type { BucketInformers, ShardStatus } from "@kubewright/sharding";
import { allBuckets, bucketName } from "@kubewright/sharding";

import { jsonReply } from "../serving/http-message.js";
import type { Route } from "../serving/router.js";

/** `/shards`: the members, and who has which bucket, as this replica knows it; of its own buckets also their state. */
export function shardsRoute(status: () => ShardStatus, informers: Pick<BucketInformers, "countNamespaces">): Route {
  const byName = new Map(allBuckets.map((bucket) => [bucketName(bucket), bucket]));
  return {
    path: "/shards",
    handle: () => {
      const { buckets, ...rest } = status();
      const described = buckets.map(({ state, ...bucket }) => ({
        ...bucket,
        ...(state === undefined ? {} : { state }),
        namespaces: informers.countNamespaces(byName.get(bucket.name)!),
      }));
      return jsonReply(200, { ...rest, buckets: described });
    },
  };
}
