import type { KubernetesObject } from "@kubewright/api";

/** Adds a finalizer that is not there. */
export function addFinalizer({ metadata }: KubernetesObject, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}
