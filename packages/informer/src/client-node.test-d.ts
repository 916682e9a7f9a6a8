import type { KubeConfig, V1ConfigMap, V1Pod } from "@kubernetes/client-node";
import { expectTypeOf, test } from "vitest";

import { type CachedObject, ListWatch, makeInformer } from "./client-node.js";

declare const kubeConfig: KubeConfig;

test("cached and delivered objects have exact types: dates are strings, and everything is read-only", () => {
  const informer = makeInformer<V1ConfigMap>(kubeConfig, "/api/v1/configmaps");
  const cached = informer.get("a", "default")!;
  expectTypeOf(cached.metadata!.creationTimestamp).toEqualTypeOf<string | undefined>();
  expectTypeOf(informer.list()).toEqualTypeOf<readonly CachedObject<V1ConfigMap>[]>();
  // @ts-expect-error shared with everybody
  cached.data = {};
  informer.on("add", ({ data }) => expectTypeOf(data).toEqualTypeOf<Readonly<Record<string, string>> | undefined>());
  informer.on("error", (error) => expectTypeOf(error).toEqualTypeOf<unknown>());
  // @ts-expect-error a string has no getTime
  informer.on("change", ({ metadata }) => metadata?.creationTimestamp?.getTime());
  // @ts-expect-error what is handed over is no V1ConfigMap, whose dates are Dates
  informer.on("update", (object: V1ConfigMap) => void object);
});

test("ListWatch is typed the same", () => {
  const pods = new ListWatch<V1Pod>("/api/v1/pods", { config: kubeConfig });
  expectTypeOf(pods.get("p")!.status!.startTime).toEqualTypeOf<string | undefined>();
});
