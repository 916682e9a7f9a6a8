import { type HeaderFields, unescapePath } from "@kubewright/transport";

import { internalError } from "../api-error.js";
import type { AccessAttributes, RequestUser } from "../authorization/authorizer.js";
import { withAuthenticatedGroup } from "./authenticator.js";
import { serviceAccountUser } from "./service-account-tokens.js";

const EXTRA = "impersonate-extra-";

/** A request to run as another user: `kubectl --as`. */
export interface Impersonation {
  readonly user: RequestUser;
  /** The permissions that the impersonating user needs; all of them. */
  readonly requiredPermissions: readonly Omit<AccessAttributes, "user">[];
}

/**
 * Reads the `Impersonate-…` headers.
 *
 * @throws ApiError 500 when groups, a uid or extras are given without a user.
 * @see apiserver `pkg/endpoints/filters/impersonation`
 */
export function impersonationOf(headers: HeaderFields): Impersonation | undefined {
  if (!hasImpersonationHeader(headers)) return undefined;
  const username = first(headers["impersonate-user"]);
  const uid = first(headers["impersonate-uid"]);
  const groups = listOf(headers["impersonate-group"]);
  const extra = Object.entries(headers)
    .filter(([name]) => name.startsWith(EXTRA))
    .map(([name, value]): [string, string[]] => [extraKey(name), listOf(value)]);
  if (username === "") throw internalError("requested groups, a uid or extras without impersonating a user");
  const requiredPermissions = [
    userPermission(username),
    ...(uid === "" ? [] : [permission("authentication.k8s.io", "uids", "", uid)]),
    ...groups.map((group) => permission("", "groups", "", group)),
    ...extra.flatMap(([key, values]) =>
      values.map((value) => permission("authentication.k8s.io", "userextras", "", value, key)),
    ),
  ];
  const user: RequestUser = {
    username,
    ...(uid === "" ? {} : { uid }),
    groups: groups.length > 0 ? groups : defaultGroups(username),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
  return { user: username === "system:anonymous" ? user : withAuthenticatedGroup(user), requiredPermissions };
}

/** Runs for every request, and almost none impersonates: avoids allocations. */
function hasImpersonationHeader(headers: HeaderFields): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function userPermission(username: string): Omit<AccessAttributes, "user"> {
  const account = serviceAccountOf(username);
  return account === undefined
    ? permission("", "users", "", username)
    : permission("", "serviceaccounts", account.namespace, account.name);
}

function permission(
  group: string,
  resource: string,
  namespace: string,
  name: string,
  subresource = "",
): Omit<AccessAttributes, "user"> {
  return { verb: "impersonate", path: "", resource: { group, version: "v1", resource, subresource, namespace, name } };
}

function defaultGroups(username: string): readonly string[] {
  if (username === "system:anonymous") return ["system:unauthenticated"];
  const account = serviceAccountOf(username);
  return account === undefined ? [] : serviceAccountUser(account.namespace, account.name).groups;
}

function serviceAccountOf(username: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username);
  return match === null ? undefined : { namespace: match[1]!, name: match[2]! };
}

function first(value: HeaderFields[string] | undefined): string {
  return (typeof value === "string" ? value : value?.[0]) ?? "";
}

/** A repeated header arrives as a list, or as one text with commas. */
function listOf(value: HeaderFields[string] | undefined): string[] {
  const texts = value === undefined ? [] : typeof value === "string" ? value.split(", ") : [...value];
  return texts.filter((text) => text !== "");
}

/** Returns a key with invalid percent-encoding unchanged. */
function extraKey(header: string): string {
  const key = header.slice(EXTRA.length);
  return unescapePath(key) ?? key;
}
