import type { BuiltInSubresource } from "../../built-in-resource.js";

/** Where every workload that can be scaled keeps its replicas and its selector. */
export const workloadScale: Extract<BuiltInSubresource, { scale: unknown }> = {
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".spec.selector",
  },
};
