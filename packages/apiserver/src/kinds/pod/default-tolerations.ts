import type { Pod, PodSpec } from "@kubewright/api";

import type { AdmissionPlugin } from "../../registry/admission.js";

type Toleration = NonNullable<PodSpec["tolerations"]>[number];

const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS = 300;

/**
 * Adds tolerations that keep pods for 300 seconds on nodes that are not ready or unreachable.
 *
 * Only servers with default objects do this: other servers have nothing that evicts pods, and leave pods unchanged.
 *
 * Upstream: plugin `DefaultTolerationSeconds`.
 */
export const defaultTolerations: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && resource === "pods",
  isIdle: ({ hasDefaultObjects }) => !hasDefaultObjects,
  mutate({ subresource, object }) {
    const pod = object as Pod;
    if (subresource !== "" || pod.spec === undefined) return;
    const { tolerations = [] } = pod.spec;
    const missing = TAINTS.filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: SECONDS,
    }));
    pod.spec = { ...pod.spec, tolerations: [...tolerations, ...added] };
  },
};

function tolerates({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === "NoExecute");
}
