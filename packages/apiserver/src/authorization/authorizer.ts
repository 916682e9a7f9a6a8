import type { ResourceAttributes } from "../request-info.js";

/** The user of a request. */
export interface RequestUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The attributes of a request that authorization uses. Upstream: `authorizer.Attributes`. */
export interface AccessAttributes {
  readonly user: RequestUser;
  /** `get`, `list`, `deletecollection`, `impersonate`…; the lower-case HTTP method for a non-resource path. */
  readonly verb: string;
  /** Absent for a non-resource path. */
  readonly resource?: ResourceAttributes | undefined;
  /** Decoded, without the query. */
  readonly path: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** Reason of the decision; omitted from responses when empty. */
  readonly reason: string;
}

export interface ResourceRules {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRules {
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** All permissions of a user in a namespace: the status of a SelfSubjectRulesReview. */
export interface AccessRules {
  readonly resourceRules: readonly ResourceRules[];
  readonly nonResourceRules: readonly NonResourceRules[];
  /** Whether the user may do more than the list says. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
  rulesFor(user: RequestUser, namespace: string): AccessRules;
}

/** Members of this group may do everything, whatever the authorizer decides. */
export const MASTERS_GROUP = "system:masters";

export const EVERYTHING: AccessRules = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** Creates an authorizer from a function. It cannot list its rules. */
export function authorizerFrom(authorize: Authorizer["authorize"]): Authorizer {
  return {
    authorize,
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: "the authorizer cannot list its rules",
    }),
  };
}

/** Returns the message for a refused request. Upstream: `responsewriters.forbiddenMessage`. */
export function refusalText({ user, verb, resource, path }: AccessAttributes): string {
  const who = `User ${JSON.stringify(user.username)} cannot ${verb}`;
  if (resource === undefined) return escapeHtml(`${who} path ${JSON.stringify(path)}`);
  const what = resource.subresource === "" ? resource.resource : `${resource.resource}/${resource.subresource}`;
  const where =
    resource.namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(resource.namespace)}`;
  return escapeHtml(`${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(resource.group)} ${where}`);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
