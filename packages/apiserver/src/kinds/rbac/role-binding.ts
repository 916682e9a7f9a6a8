import {
  type ClusterRoleBinding,
  type KubernetesObject,
  type RoleBinding,
  type RoleRef,
  type RoleSubject,
  clusterRoleBindings,
  roleBindings,
} from "@kubewright/api";
import { dnsSubdomainErrors, pathSegmentErrors } from "@kubewright/api/validation";

import { grantAdmission } from "../../authorization/escalation.js";
import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateRequired, validateSupported } from "../../validation/rules.js";
import { ageCell, table } from "../table-cells.js";

const GROUP = "rbac.authorization.k8s.io";

interface Binding extends KubernetesObject {
  roleRef: RoleRef;
  subjects?: RoleSubject[];
}

const printer = table<Binding>({
  Role: ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`,
  Age: ageCell,
  "Users*": ({ subjects }) => subjectsCell("User", subjects),
  "Groups*": ({ subjects }) => subjectsCell("Group", subjects),
  "ServiceAccounts*": ({ subjects }) => subjectsCell("ServiceAccount", subjects),
});

function subjectsCell(wanted: string, subjects: readonly RoleSubject[] = []): string {
  return subjects
    .filter(({ kind }) => kind === wanted)
    .map(({ kind, name, namespace }) => (kind === "ServiceAccount" && namespace ? `${namespace}/${name}` : name))
    .join(", ");
}

export const roleBindingResource = builtInResource<RoleBinding>({
  definition: roleBindings,
  strategy: bindingStrategy(true),
  admission: grantAdmission,
});

export const clusterRoleBindingResource = builtInResource<ClusterRoleBinding>({
  definition: clusterRoleBindings,
  strategy: bindingStrategy(false),
  admission: grantAdmission,
});

/** Upstream: `pkg/registry/rbac/rolebinding` and `clusterrolebinding`, `pkg/apis/rbac/validation`. */
function bindingStrategy(namespaced: boolean): ResourceStrategy<Binding> {
  const roleKinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  const validate = (binding: Binding, errors: FieldErrors): void => {
    validateRoleRef(binding.roleRef, roleKinds, errors);
    for (const [index, subject] of (binding.subjects ?? []).entries())
      validateSubject(subject, `subjects[${index}]`, namespaced, errors);
  };
  return {
    applyDefaults: setGroups,
    validate,
    validateUpdate(binding, stored, errors) {
      if (!jsonEqual(binding.roleRef, stored.roleRef))
        errors.invalid("roleRef", binding.roleRef, "cannot change roleRef");
    },
    allowCreateOnUpdate: true,
    nameFormat: "path-segment",
    printer,
  };
}

/** Upstream: `pkg/apis/rbac/v1` defaults. */
function setGroups({ roleRef, subjects = [] }: Binding): void {
  if (!roleRef.apiGroup) roleRef.apiGroup = GROUP;
  for (const subject of subjects)
    if (!subject.apiGroup && (subject.kind === "User" || subject.kind === "Group")) subject.apiGroup = GROUP;
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[], errors: FieldErrors): void {
  if (apiGroup !== GROUP) errors.notSupported("roleRef.apiGroup", apiGroup, [GROUP]);
  validateSupported(kind, kinds, "roleRef.kind", errors);
  validateRequired(name, pathSegmentErrors, "roleRef.name", errors);
}

function validateSubject(subject: RoleSubject, path: string, namespaced: boolean, errors: FieldErrors): void {
  const { kind, name, apiGroup = "", namespace = "" } = subject;
  if (!name) errors.required(`${path}.name`);
  switch (kind) {
    case "ServiceAccount":
      if (name) for (const message of dnsSubdomainErrors(name)) errors.invalid(`${path}.name`, name, message);
      if (apiGroup !== "") errors.notSupported(`${path}.apiGroup`, apiGroup, [""]);
      if (!namespaced && namespace === "") errors.required(`${path}.namespace`);
      return;
    case "User":
    case "Group":
      if (apiGroup !== GROUP) errors.notSupported(`${path}.apiGroup`, apiGroup, [GROUP]);
      return;
    default:
      errors.notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]);
  }
}
