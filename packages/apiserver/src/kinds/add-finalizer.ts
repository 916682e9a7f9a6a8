import type { KubernetesObject } from "@kubewright/api";

/** Adds a finalizer if it is missing. */
export function addFinalizer({ metadata }: KubernetesObject, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}
