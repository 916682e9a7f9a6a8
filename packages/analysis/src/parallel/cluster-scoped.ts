import {
  type CustomResourceDefinition,
  type UnstructuredObject,
  apiVersionOf,
  customResourceDefinitions,
} from "@kubewright/api";

/** Kinds with their groups, as kubectl writes them. */
const BUILT_IN: ReadonlySet<string> = new Set([
  "Namespace",
  "Node",
  "PersistentVolume",
  "CertificateSigningRequest.certificates.k8s.io",
  "ClusterRole.rbac.authorization.k8s.io",
  "ClusterRoleBinding.rbac.authorization.k8s.io",
  "CustomResourceDefinition.apiextensions.k8s.io",
  "IngressClass.networking.k8s.io",
  "MutatingWebhookConfiguration.admissionregistration.k8s.io",
  "PriorityClass.scheduling.k8s.io",
  "RuntimeClass.node.k8s.io",
  "StorageClass.storage.k8s.io",
  "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
  "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
  "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
]);

type KindReference = Pick<UnstructuredObject, "apiVersion" | "kind">;

/**
 * Returns a test for cluster-scoped objects, from the built-in kinds and the CustomResourceDefinitions among `objects`.
 */
export function clusterScopeTest(objects: readonly UnstructuredObject[]): (object: KindReference) => boolean {
  const defined = new Set<string>();
  for (const object of objects) {
    if (object.kind !== customResourceDefinitions.kind || object.apiVersion !== apiVersionOf(customResourceDefinitions))
      continue;
    const { spec } = object as unknown as Partial<CustomResourceDefinition>;
    if (spec?.scope === "Cluster") defined.add(groupKind(spec.group ?? "", spec.names?.kind ?? ""));
  }
  return ({ apiVersion = "", kind = "" }) => {
    const key = groupKind(apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "", kind);
    return BUILT_IN.has(key) || defined.has(key);
  };
}

function groupKind(group: string, kind: string): string {
  return group === "" ? kind : `${kind}.${group}`;
}
