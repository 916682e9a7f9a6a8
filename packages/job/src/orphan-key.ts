import { type DeepReadonly, type LabelSelector, type ObjectKey, keyOf, objectKey } from "@kubewright/api";

import type { JobObject, PodObject } from "./job-spec.js";

/** A key of the orphan queue with a type prefix: the key of one pod, or a namespace and the selector of a Job in it. */
export type OrphanKey = `pod:${string}` | `selector:${string}`;

/** The parsed form of a key of the orphan queue. Upstream: job_controller.go orphanPodKey. */
export type OrphanTarget =
  | { readonly type: "pod"; readonly key: ObjectKey }
  | {
      readonly type: "selector";
      readonly namespace: string;
      readonly selector: DeepReadonly<LabelSelector> | undefined;
    };

/** Returns the key for one pod. */
export function orphanPodKey(pod: PodObject): OrphanKey {
  return `pod:${keyOf(pod)}`;
}

/** Returns the key for all pods that a Job selects. */
export function orphanSelectorKey({ metadata, spec }: JobObject): OrphanKey {
  return `selector:${metadata.namespace}/${JSON.stringify(spec?.selector ?? null)}`;
}

export function orphanTarget(key: OrphanKey): OrphanTarget {
  const tagEnd = key.indexOf(":");
  const slash = key.indexOf("/");
  const namespace = key.slice(tagEnd + 1, slash);
  const rest = key.slice(slash + 1);
  if (key.startsWith("pod:")) return { type: "pod", key: objectKey({ namespace, name: rest }) };
  const selector = (JSON.parse(rest) as LabelSelector | null) ?? undefined;
  return { type: "selector", namespace, selector };
}
