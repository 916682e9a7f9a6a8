import type { ResourceAttributes } from "../request-info.js";

/** Who a request comes from. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a request is about, as far as permission goes. Upstream: `authorizer.Attributes`. */
export interface AccessAttributes {
  readonly user: UserInfo;
  /** `get`, `list`, `deletecollection`, `impersonate`…; the lower-case HTTP method for a path that is no resource. */
  readonly verb: string;
  /** Absent for a path that is no resource. */
  readonly resource?: ResourceAttributes | undefined;
  /** Decoded, without the query. */
  readonly path: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** Why, or why not; an empty one is not mentioned. */
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

/** Everything a user may do in a namespace: the answer to a SelfSubjectRulesReview. */
export interface AccessRules {
  readonly resourceRules: readonly ResourceRules[];
  readonly nonResourceRules: readonly NonResourceRules[];
  /** The list says less than the user may do. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
  rulesFor(user: UserInfo, namespace: string): AccessRules;
}

/** Members of this group may do everything, whatever the authorizer. */
export const MASTERS_GROUP = "system:masters";

export const EVERYTHING: AccessRules = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** An authorizer made of a function that cannot list what it allows. */
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

/** What a refused request is told. Upstream: `responsewriters.forbiddenMessage`. */
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
