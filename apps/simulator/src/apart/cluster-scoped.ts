import {
  type CustomResourceDefinition,
  type UnstructuredObject,
  apiVersionOf,
  certificateSigningRequests,
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  ingressClasses,
  mutatingWebhookConfigurations,
  namespaces,
  nodes,
  persistentVolumes,
  priorityClasses,
  runtimeClasses,
  storageClasses,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from "@kubewright/api";

const BUILT_IN: ReadonlySet<string> = new Set(
  [
    certificateSigningRequests,
    clusterRoleBindings,
    clusterRoles,
    customResourceDefinitions,
    ingressClasses,
    mutatingWebhookConfigurations,
    namespaces,
    nodes,
    persistentVolumes,
    priorityClasses,
    runtimeClasses,
    storageClasses,
    validatingAdmissionPolicies,
    validatingAdmissionPolicyBindings,
    validatingWebhookConfigurations,
  ].map(({ group, kind }) => groupKind(group, kind)),
);

type Kinded = Pick<UnstructuredObject, "apiVersion" | "kind">;

/** Tells which objects belong to no namespace: of the built-in kinds, and of those that definitions among the objects define. */
export function clusterScoped(objects: readonly UnstructuredObject[]): (object: Kinded) => boolean {
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
  return `${group} ${kind}`;
}
