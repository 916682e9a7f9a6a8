import type { HeaderFields } from "@kubewright/transport";

import type { Impersonation } from "./connection-options.js";

/**
 * The headers of a request that is made for somebody else.
 *
 * @throws Error when there is nobody to impersonate: without a user the server would take none of it into account.
 * @see client-go transport/round_trippers.go NewImpersonatingRoundTripper
 */
export function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): HeaderFields {
  if (!user) throw new Error("requesting uid, groups or user-extra without impersonating a user");
  return {
    "impersonate-user": utf8AsLatin1(user),
    ...(uid === undefined ? {} : { "impersonate-uid": utf8AsLatin1(uid) }),
    ...(groups.length === 0 ? {} : { "impersonate-group": groups.map(utf8AsLatin1) }),
    ...Object.fromEntries(
      Object.entries(extra).map(([name, values]) => [
        `impersonate-extra-${escapeHeaderKey(name)}`,
        values.map(utf8AsLatin1),
      ]),
    ),
  };
}

/** A text whose characters are the bytes of another: HTTP libraries write one byte a character, and refuse the rest. */
function utf8AsLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** As part of a header's name, where case does not count. Upstream: headerKeyEscape. */
function escapeHeaderKey(name: string): string {
  return utf8AsLatin1(name)
    .replaceAll(
      /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .toLowerCase();
}
