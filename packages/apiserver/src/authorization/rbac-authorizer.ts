import type {
  ClusterRole,
  ClusterRoleBinding,
  KubernetesObject,
  PolicyRule,
  Role,
  RoleBinding,
  RoleSubject,
} from "@kubewright/api";

import type { Change } from "../storage/change.js";
import type { ChangeListener, ResourceStorage } from "../storage/resource-storage.js";
import {
  type AccessAttributes,
  type AccessDecision,
  type AccessRules,
  type Authorizer,
  EVERYTHING,
  MASTERS_GROUP,
  type NonResourceRules,
  type ResourceRules,
  type RequestUser,
} from "./authorizer.js";

type AnyBinding = RoleBinding | ClusterRoleBinding;

/** One binding and one of its subjects. */
interface Grant {
  readonly binding: AnyBinding;
  readonly subject: RoleSubject;
}

export interface RbacStorages {
  readonly roles: ResourceStorage;
  readonly clusterRoles: ResourceStorage;
  readonly roleBindings: ResourceStorage;
  readonly clusterRoleBindings: ResourceStorage;
}

/**
 * Role-based access control with the stored roles and bindings. Indexes bindings by subject, so that a request reads
 * only the bindings of its user and groups.
 *
 * Upstream: `plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac/validation/rule.go`.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #storages: RbacStorages;
  readonly #clusterGrants = new Grants();
  /** By namespace. */
  readonly #grants = new Map<string, Grants>();

  constructor(storages: RbacStorages) {
    this.#storages = storages;
    for (const storage of [storages.clusterRoleBindings, storages.roleBindings]) {
      for (const { object } of storage.list()) this.#grantsOf(object).add(object as AnyBinding);
      storage.follow({ onChange: (change) => this.#onChange(change) } satisfies ChangeListener);
    }
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    if (attributes.user.groups.includes(MASTERS_GROUP)) return { allowed: true, reason: "" };
    const errors: string[] = [];
    for (const grant of this.#grantsFor(attributes.user, attributes.resource?.namespace ?? "")) {
      const rules = this.#rulesOf(grant.binding, errors);
      if (rules.some((rule) => allows(rule, attributes)))
        return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` };
    }
    return { allowed: false, reason: errors.length === 0 ? "" : `RBAC: ${aggregate(errors)}` };
  }

  rulesFor(user: RequestUser, namespace: string): AccessRules {
    if (user.groups.includes(MASTERS_GROUP)) return EVERYTHING;
    const errors: string[] = [];
    const resourceRules: ResourceRules[] = [];
    const nonResourceRules: NonResourceRules[] = [];
    for (const { binding } of this.#grantsFor(user, namespace)) {
      for (const { verbs, apiGroups, resources = [], resourceNames, nonResourceURLs = [] } of this.#rulesOf(
        binding,
        errors,
      )) {
        if (resources.length > 0) {
          resourceRules.push({
            verbs,
            ...(apiGroups === undefined ? {} : { apiGroups }),
            resources,
            ...(resourceNames === undefined ? {} : { resourceNames }),
          });
        }
        if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
      }
    }
    const failed = errors.length > 0;
    return {
      resourceRules,
      nonResourceRules,
      incomplete: failed,
      ...(failed ? { evaluationError: aggregate(errors) } : {}),
    };
  }

  /** Yields cluster bindings first, then those of the namespace; in each, the user's first, then the groups'. */
  *#grantsFor(user: RequestUser, namespace: string): Generator<Grant> {
    yield* this.#clusterGrants.of(user);
    if (namespace !== "") yield* this.#grants.get(namespace)?.of(user) ?? [];
  }

  #rulesOf({ metadata, roleRef }: AnyBinding, errors: string[]): readonly PolicyRule[] {
    const isRole = roleRef.kind === "Role";
    const stored = isRole
      ? this.#storages.roles.get(metadata.namespace ?? "", roleRef.name)
      : this.#storages.clusterRoles.get("", roleRef.name);
    if (stored === undefined) {
      errors.push(
        `${isRole ? "role" : "clusterrole"}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`,
      );
      return [];
    }
    return (stored.object as Role | ClusterRole).rules ?? [];
  }

  #onChange({ previous, current }: Change): void {
    if (previous !== undefined) this.#grantsOf(previous.object).remove(previous.object as AnyBinding);
    if (current !== undefined) this.#grantsOf(current.object).add(current.object as AnyBinding);
  }

  #grantsOf({ metadata: { namespace = "" } }: KubernetesObject): Grants {
    if (namespace === "") return this.#clusterGrants;
    let grants = this.#grants.get(namespace);
    if (grants === undefined) this.#grants.set(namespace, (grants = new Grants()));
    return grants;
  }
}

/** The bindings of one namespace, or of the cluster, by subject. */
class Grants {
  readonly #bySubject = new Map<string, Map<string, Grant>>();

  add(binding: AnyBinding): void {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, binding);
      let grants = this.#bySubject.get(key);
      if (grants === undefined) this.#bySubject.set(key, (grants = new Map()));
      grants.set(binding.metadata.name ?? "", { binding, subject });
    }
  }

  remove(binding: AnyBinding): void {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, binding);
      const grants = this.#bySubject.get(key);
      grants?.delete(binding.metadata.name ?? "");
      if (grants?.size === 0) this.#bySubject.delete(key);
    }
  }

  *of({ username, groups }: RequestUser): Generator<Grant> {
    yield* this.#bySubject.get(`User/${username}`)?.values() ?? [];
    for (const group of groups) yield* this.#bySubject.get(`Group/${group}`)?.values() ?? [];
  }
}

/** A service account is the user `system:serviceaccount:NAMESPACE:NAME`. */
function subjectKey({ kind, name, namespace }: RoleSubject, binding: AnyBinding): string {
  if (kind !== "ServiceAccount") return `${kind}/${name}`;
  return `User/system:serviceaccount:${namespace || (binding.metadata.namespace ?? "")}:${name}`;
}

function allows(rule: PolicyRule, { verb, resource, path }: AccessAttributes): boolean {
  if (!hasOrAll(rule.verbs, verb)) return false;
  if (resource === undefined)
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === "*" || url === path || (url.endsWith("*") && path.startsWith(trimTrailingStars(url))),
    );
  const { subresource } = resource;
  const what = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
  const names = rule.resourceNames ?? [];
  return (
    hasOrAll(rule.apiGroups, resource.group) &&
    (hasOrAll(rule.resources, what) || (subresource !== "" && rule.resources?.includes(`*/${subresource}`) === true)) &&
    (names.length === 0 || names.includes(resource.name))
  );
}

/** Removes trailing stars. A regular expression would take quadratic time. */
function trimTrailingStars(url: string): string {
  let end = url.length;
  while (url[end - 1] === "*") end--;
  return url.slice(0, end);
}

function hasOrAll(list: readonly string[] | null | undefined, value: string): boolean {
  return list != null && (list.includes("*") || list.includes(value));
}

function describe({ binding: { metadata, roleRef }, subject }: Grant): string {
  const { name = "", namespace = "" } = metadata;
  const [kind, where] = namespace === "" ? ["ClusterRoleBinding", name] : ["RoleBinding", `${name}/${namespace}`];
  const whom = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${kind} ${JSON.stringify(where)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(whom)}`;
}

function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]`;
}
