import { BucketLayout, type BucketStatus } from "@kubewright/sharding";
import { expect, test } from "vitest";

import type { HttpRequest } from "../serving/http-message.js";
import { shardsRoute } from "./shards-route.js";

test("/shards says of a bucket how many namespaces it has, and of a part which one it is of", async () => {
  const layout = new BucketLayout({ batch: 2 });
  const buckets = layout.buckets.map((bucket): BucketStatus => {
    const state = bucket === 66 ? "active" : undefined;
    return { name: layout.nameOf(bucket), owner: "replica-0", epoch: 3, state };
  });
  const status = { identity: "replica-0", members: ["replica-0"], problem: undefined, buckets };
  const informers = { countNamespaces: (bucket: number) => bucket + 100 };
  const { handle } = shardsRoute(() => status, { layout, informers });
  const shown = JSON.parse((await handle({} as HttpRequest)).body) as { readonly buckets: readonly object[] };
  expect(shown.buckets[0]).toEqual({ name: "00", owner: "replica-0", epoch: 3, namespaces: 100 });
  expect(shown.buckets.slice(65)).toEqual([
    { name: "batch/0", owner: "replica-0", epoch: 3, namespace: "batch" },
    { name: "batch/1", owner: "replica-0", epoch: 3, state: "active", namespace: "batch" },
  ]);
});
