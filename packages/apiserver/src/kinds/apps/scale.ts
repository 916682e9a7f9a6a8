import type { BuiltInSubresource } from "../../built-in-resource.js";

/** The paths of replicas and selector, which all scalable workloads share. */
export const workloadScale: Extract<BuiltInSubresource, { scale: unknown }> = {
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".spec.selector",
  },
};
