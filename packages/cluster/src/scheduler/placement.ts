import type { DeepReadonly, Node, PodSpec } from "@kubewright/api";

import { type NodeSelector, matchesNodeAffinity } from "./node-affinity.js";

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];
export type Toleration = NonNullable<PodSpec["tolerations"]>[number];

/** The constraints of a pod on its node. */
export interface Placement {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly DeepReadonly<Toleration>[];
  /** The required node affinity. */
  readonly nodeAffinity?: DeepReadonly<NodeSelector>;
}

/** Returns the pod's constraints, or `undefined` when it has none. */
export function placementOf(spec: DeepReadonly<PodSpec> | undefined): Placement | undefined {
  const { nodeSelector = {}, tolerations = [], affinity } = spec ?? {};
  const nodeAffinity = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (nodeAffinity === undefined && tolerations.length === 0 && Object.keys(nodeSelector).length === 0)
    return undefined;
  return nodeAffinity === undefined ? { nodeSelector, tolerations } : { nodeSelector, tolerations, nodeAffinity };
}

/** Reports whether a node matches the pod's node selector and required node affinity. */
export function matchesNode(
  placement: Placement | undefined,
  name: string,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (placement === undefined) return true;
  const { nodeSelector, nodeAffinity } = placement;
  return (
    Object.entries(nodeSelector).every(([key, value]) => labels?.[key] === value) &&
    (nodeAffinity === undefined || matchesNodeAffinity(nodeAffinity, name, labels))
  );
}

/** Returns the first taint that the pod does not tolerate; `PreferNoSchedule` taints never prevent scheduling. */
export function untoleratedTaint(
  placement: Placement | undefined,
  taints: readonly DeepReadonly<Taint>[],
): DeepReadonly<Taint> | undefined {
  return taints.find(
    (taint) =>
      taint.effect !== "PreferNoSchedule" &&
      !(placement?.tolerations ?? []).some((toleration) => tolerates(toleration, taint)),
  );
}

/**
 * Reports whether a toleration matches a taint.
 *
 * Upstream: k8s.io/component-helpers/scheduling/corev1 TolerationsTolerateTaint.
 */
export function tolerates(toleration: DeepReadonly<Toleration>, taint: DeepReadonly<Taint>): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === "Exists") return true;
  return (toleration.operator ?? "Equal") === "Equal" && (toleration.value ?? "") === (taint.value ?? "");
}
