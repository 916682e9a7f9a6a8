import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type Pod,
  type PodTemplateSpec,
  mutableCopy,
} from "@kubewright/api";

import { isDnsSubdomainPrefix } from "./object-name.js";

/**
 * Creates a pod from a template, controlled by `controllerRef`. Labels, annotations, finalizers and spec are copies of
 * the template's. The API server generates the name from `generateName` (default: the owner's name and a dash).
 *
 * Upstream: kubernetes/pkg/controller GetPodFromTemplate.
 */
export function podFromTemplate(
  template: DeepReadonly<PodTemplateSpec>,
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  controllerRef: DeepReadonly<OwnerReference>,
  generateName?: string,
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: generateName || podNamePrefix(owner.metadata.name ?? ""),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [{ ...controllerRef }],
    },
    ...(template.spec === undefined ? {} : { spec: mutableCopy(template.spec) }),
  };
}

/** Returns `<owner>-`, or `<owner>` if the former is not a valid prefix of a pod name. */
function podNamePrefix(ownerName: string): string {
  const dashed = `${ownerName}-`;
  return isDnsSubdomainPrefix(dashed) ? dashed : ownerName;
}
