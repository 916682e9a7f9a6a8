import { type DeepReadonly, type KubernetesObject, type Pod, getControllerOf } from "@kubewright/api";
import type { Lister } from "@kubewright/informer";

/** Name of the index that finds pods by their controller. */
export const podControllerIndex = "podController";

/**
 * The index values of a pod: its controller's {@link podControllerIndexKey}, or just the namespace for a pod without one.
 *
 * Upstream: kubernetes/pkg/controller PodControllerIndexer (`AddPodControllerIndexer`).
 */
export function podControllerIndexValues(pod: DeepReadonly<Pod>): readonly string[] {
  const namespace = pod.metadata.namespace ?? "";
  const controller = getControllerOf(pod);
  return [
    controller === undefined
      ? namespace
      : podControllerIndexKey(namespace, controller.kind, controller.name, controller.uid),
  ];
}

export function podControllerIndexKey(namespace: string, kind: string, name: string, uid: string): string {
  return `${namespace}/${kind}/${name}/${uid}`;
}

/**
 * Returns the pods that an owner controls. With `includeOrphans` also the pods of its namespace without a controller:
 * the candidates for claiming. The lister needs the {@link podControllerIndex}.
 *
 * @throws Error that names what the owner lacks: namespace, name, uid.
 */
export function podsOfController(
  pods: Pick<Lister<Pod, typeof podControllerIndex>, "byIndex">,
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  { kind, includeOrphans = false }: { readonly kind: string; readonly includeOrphans?: boolean },
): DeepReadonly<Pod>[] {
  const { namespace, name, uid } = owner.metadata;
  if (!namespace) throw new Error("no owner namespace provided");
  if (!name) throw new Error("no owner name provided");
  if (!uid) throw new Error("no owner uid provided");
  if (!kind) throw new Error("no owner kind provided");
  const owned = pods.byIndex(podControllerIndex, podControllerIndexKey(namespace, kind, name, uid));
  if (!includeOrphans) return owned;
  const orphans = pods.byIndex(podControllerIndex, namespace);
  return orphans.length === 0 ? owned : [...owned, ...orphans];
}
