import type { ClusterRole, PolicyRule, Role, RoleBinding } from "@kubewright/api";

import { forbidden, notFound } from "../api-error.js";
import { jsonEqual } from "../json.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.js";
import type { AccessAttributes, AccessRules } from "./authorizer.js";

const GROUP = "rbac.authorization.k8s.io";
/** A rule with more combinations of group, resource, name and verb is not expanded and counts as not held. */
const MAX_COMBINATIONS = 100_000;

/**
 * Prevents privilege escalation. A user that writes a role must hold its rules or be allowed to `escalate`. A user that
 * writes a binding must hold the role's rules or be allowed to `bind` it. Runs last of the mutating plugins. An update
 * that leaves the rules unchanged needs no permission.
 *
 * A refusal is a 403 that names the missing rules. The answer is 404 when the bound role does not exist.
 *
 * @see kubernetes `pkg/registry/rbac/*\/policybased`, `pkg/registry/rbac/validation/policy_comparator.go`
 */
export const grantAdmission: AdmissionPlugin = {
  concerns: ({ group }) => group === GROUP,
  mutate(attributes) {
    const { resource, server, object, oldObject } = attributes;
    if (!server.access.isEnabled) return;
    if (resource.kind.endsWith("Binding")) admitBinding(attributes, object as RoleBinding, oldObject as RoleBinding);
    else admitRole(attributes, object!, oldObject);
  },
};

function admitRole(
  attributes: AdmissionAttributes,
  { metadata, rules }: Role | ClusterRole,
  stored: Role | ClusterRole | undefined,
): void {
  if (stored !== undefined && jsonEqual(rules, stored.rules)) return;
  const { resource, namespace, name } = attributes;
  if (isAllowed(attributes, "escalate", resource.resource, namespace, stored === undefined ? "" : name)) return;
  confirmNoEscalation(attributes, metadata.name ?? "", rules ?? []);
}

function admitBinding(attributes: AdmissionAttributes, binding: RoleBinding, stored: RoleBinding | undefined): void {
  const { roleRef, subjects } = binding;
  if (stored !== undefined && jsonEqual([roleRef, subjects], [stored.roleRef, stored.subjects])) return;
  const { namespace } = attributes;
  const plural = roleRef.kind === "Role" ? "roles" : "clusterroles";
  if (isAllowed(attributes, "bind", plural, namespace, roleRef.name)) return;
  const roles = attributes.server.registry.find(GROUP, "v1", plural)!;
  const role = roles.storage.get(roleRef.kind === "Role" ? namespace : "", roleRef.name);
  if (role === undefined) throw notFound(roles, roleRef.name);
  confirmNoEscalation(attributes, binding.metadata.name ?? "", (role.object as Role).rules ?? []);
}

function isAllowed(
  { server, user }: AdmissionAttributes,
  verb: string,
  resource: string,
  namespace: string,
  name: string,
): boolean {
  const attributes: NonNullable<AccessAttributes["resource"]> = {
    group: GROUP,
    version: "v1",
    resource,
    subresource: "",
    namespace,
    name,
  };
  return server.access.decide({ user, verb, path: "", resource: attributes }).allowed;
}

function confirmNoEscalation(
  { server, resource, namespace, user }: AdmissionAttributes,
  name: string,
  rules: readonly PolicyRule[],
): void {
  const held = heldRules(server.access.rulesFor(user, namespace));
  const missing = missingRules(held, rules);
  if (missing.length === 0) return;
  const groups = `[${user.groups.map((group) => JSON.stringify(group)).join(" ")}]`;
  throw forbidden(
    resource,
    name,
    `user ${JSON.stringify(user.username)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${missing.map(ruleText).sort().join("\n")}`,
  );
}

/** Returns the rules that no held rule covers; verbs of the same resource are merged. */
function missingRules(held: readonly PolicyRule[], rules: readonly PolicyRule[]): PolicyRule[] {
  const missing = new Map<string, PolicyRule>();
  let combinations = 0;
  for (const rule of rules) {
    combinations += combinationsOf(rule);
    if (combinations > MAX_COMBINATIONS) return [rule];
    for (const part of simpleRules(rule)) {
      if (held.some((owned) => covers(owned, part))) continue;
      const thing = ruleText({ ...part, verbs: [] });
      const known = missing.get(thing);
      if (known === undefined) missing.set(thing, part);
      else if (!known.verbs.includes(part.verbs[0]!)) known.verbs.push(part.verbs[0]!);
    }
  }
  return [...missing.values()];
}

function heldRules({ resourceRules, nonResourceRules }: AccessRules): readonly PolicyRule[] {
  return [...resourceRules, ...nonResourceRules] as unknown as readonly PolicyRule[];
}

function combinationsOf({
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
  verbs,
}: PolicyRule): number {
  const resourceRules = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (resourceRules + nonResourceURLs.length) * (verbs ?? []).length;
}

/** Splits a rule into rules of one group, resource, name and verb each. */
function* simpleRules(rule: PolicyRule): Generator<PolicyRule> {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  for (const verb of rule.verbs ?? []) {
    for (const url of nonResourceURLs) yield { nonResourceURLs: [url], verbs: [verb] };
    for (const group of apiGroups)
      for (const resource of resources) {
        const simple = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) yield simple;
        for (const name of resourceNames) yield { ...simple, resourceNames: [name] };
      }
  }
}

/** Whether `owned` allows everything that the other, simple rule allows. */
function covers(
  owned: PolicyRule,
  { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule,
): boolean {
  if (!includes(owned.verbs, verbs[0]!)) return false;
  if (nonResourceURLs !== undefined) {
    const url = nonResourceURLs[0]!;
    return (owned.nonResourceURLs ?? []).some(
      (own) => own === "*" || own === url || (own.endsWith("*") && url.startsWith(own.slice(0, -1))),
    );
  }
  const resource = resources![0]!;
  const slash = resource.indexOf("/");
  const ownedNames = owned.resourceNames ?? [];
  return (
    includes(owned.apiGroups, apiGroups![0]!) &&
    (includes(owned.resources, resource) ||
      (slash >= 0 && (owned.resources ?? []).includes(`*${resource.slice(slash)}`))) &&
    (ownedNames.length === 0 || (resourceNames !== undefined && ownedNames.includes(resourceNames[0]!)))
  );
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}

/** Formats a rule: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const shown = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  }).filter(([, list]) => list !== undefined && list.length > 0);
  const lists = shown.map(([name, list]) => `${name}:[${list!.map((text) => JSON.stringify(text)).join(" ")}]`);
  return `{${lists.join(", ")}}`;
}
