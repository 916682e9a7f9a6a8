import type { UnstructuredObject } from "@kubewright/api";

/** A beta version that Kubernetes has removed, and the stable version with the same fields. */
export interface RemovedVersion {
  /** `batch/v1beta1` */
  readonly written: string;
  /** `batch/v1` */
  readonly stable: string;
  /** The release of Kubernetes that removed it: `1.25`. */
  readonly since: string;
}

/**
 * Removed versions by `apiVersion kind`, with stable version and release. Kinds whose fields changed are not among them:
 * Ingress, CustomResourceDefinition, webhook configurations, autoscaling/v2beta1.
 *
 * @see https://kubernetes.io/docs/reference/using-api/deprecation-guide/
 */
const REMOVED: ReadonlyMap<string, readonly [stable: string, since: string]> = new Map([
  ...kinds("batch/v1beta1", ["CronJob"], "batch/v1", "1.25"),
  ...kinds("batch/v2alpha1", ["CronJob"], "batch/v1", "1.21"),
  ...kinds(
    "rbac.authorization.k8s.io/v1beta1",
    ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    "rbac.authorization.k8s.io/v1",
    "1.22",
  ),
  ...kinds("policy/v1beta1", ["PodDisruptionBudget"], "policy/v1", "1.25"),
  ...kinds("networking.k8s.io/v1beta1", ["IngressClass"], "networking.k8s.io/v1", "1.22"),
  ...kinds("extensions/v1beta1", ["NetworkPolicy"], "networking.k8s.io/v1", "1.16"),
  ...kinds("autoscaling/v2beta2", ["HorizontalPodAutoscaler"], "autoscaling/v2", "1.26"),
  ...kinds("scheduling.k8s.io/v1beta1", ["PriorityClass"], "scheduling.k8s.io/v1", "1.22"),
  ...kinds("storage.k8s.io/v1beta1", ["StorageClass"], "storage.k8s.io/v1", "1.22"),
  ...kinds("coordination.k8s.io/v1beta1", ["Lease"], "coordination.k8s.io/v1", "1.22"),
]);

/** Returns the stable version of an object whose version Kubernetes has removed. */
export function removedVersionOf({ apiVersion = "", kind = "" }: UnstructuredObject): RemovedVersion | undefined {
  const entry = REMOVED.get(`${apiVersion} ${kind}`);
  return entry === undefined ? undefined : { written: apiVersion, stable: entry[0], since: entry[1] };
}

/** `batch/v1beta1 was removed in Kubernetes 1.25; write apiVersion: batch/v1, the fields are the same` */
export function removedVersionText({ written, stable, since }: RemovedVersion): string {
  return `${written} was removed in Kubernetes ${since}; write apiVersion: ${stable}, the fields are the same`;
}

function kinds(
  written: string,
  names: readonly string[],
  stable: string,
  since: string,
): (readonly [string, readonly [string, string]])[] {
  return names.map((kind) => [`${written} ${kind}`, [stable, since]]);
}
