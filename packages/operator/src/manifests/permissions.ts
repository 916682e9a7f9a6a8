import type { PolicyRule, ResourceDefinition } from "@kubewright/api";

import { DEFAULT_SUBJECT_VERBS } from "./verbs.js";

/** A permission of an operator. */
export interface Permission {
  readonly resource: Pick<ResourceDefinition, "group" | "resource" | "namespaced">;
  /** Default: `get`, `create`, `update`, `patch`, `delete`. */
  readonly verbs?: readonly string[] | undefined;
  /** Such as `status`. Default: the objects themselves. */
  readonly subresource?: string | undefined;
  /** Namespaced resources: where. Default: wherever the operator works. */
  readonly namespaces?: readonly string[] | undefined;
  /** Default: all names. */
  readonly resourceNames?: readonly string[] | undefined;
}

/** Conventional order of verbs in roles. */
const ORDER = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/**
 * Creates RBAC rules that allow exactly these permissions. Each resource appears once, resources with equal verbs are
 * grouped, and all is sorted.
 */
export function policyRules(permissions: readonly Permission[]): PolicyRule[] {
  const byResource = new Map<
    string,
    { group: string; resource: string; names: readonly string[]; verbs: Set<string> }
  >();
  for (const { resource, verbs = DEFAULT_SUBJECT_VERBS, subresource, resourceNames = [] } of permissions) {
    const name = subresource === undefined ? resource.resource : `${resource.resource}/${subresource}`;
    const names = [...new Set(resourceNames)].sort();
    const key = JSON.stringify([resource.group, name, names]);
    const found = byResource.get(key) ?? { group: resource.group, resource: name, names, verbs: new Set<string>() };
    for (const verb of verbs) found.verbs.add(verb);
    byResource.set(key, found);
  }
  const rules = new Map<string, PolicyRule & { resources: string[] }>();
  for (const [, { group, resource, names, verbs }] of [...byResource].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sorted = [...verbs].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    const key = JSON.stringify([group, sorted, names]);
    const rule = rules.get(key);
    if (rule !== undefined) rule.resources.push(resource);
    else
      rules.set(key, {
        apiGroups: [group],
        resources: [resource],
        ...(names.length === 0 ? {} : { resourceNames: [...names] }),
        verbs: sorted,
      });
  }
  return [...rules.values()];
}

function rank(verb: string): number {
  const found = ORDER.indexOf(verb);
  return found < 0 ? ORDER.length : found;
}
