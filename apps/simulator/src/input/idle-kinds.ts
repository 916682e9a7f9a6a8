import type { ResourceDefinition } from "@kubewright/api";

/**
 * Kinds of which the cluster takes objects, and nothing comes of them: their controllers are not here. Kinds that work by
 * themselves, as the API server goes by them (quotas, limits, classes), and such as only hold data are not among them.
 */
const IDLE: ReadonlySet<string> = new Set([
  "/PersistentVolume",
  "/PersistentVolumeClaim",
  "/ReplicationController",
  "apps/DaemonSet",
  "apps/Deployment",
  "apps/ReplicaSet",
  "apps/StatefulSet",
  "autoscaling/HorizontalPodAutoscaler",
  "certificates.k8s.io/CertificateSigningRequest",
  "networking.k8s.io/Ingress",
  "networking.k8s.io/NetworkPolicy",
]);

/** Whether no controller here acts on objects of that kind. */
export function isIdleKind({ group, kind }: Pick<ResourceDefinition, "group" | "kind">): boolean {
  return IDLE.has(`${group}/${kind}`);
}
