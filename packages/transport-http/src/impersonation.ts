import type { HeaderFields } from "@kubewright/transport";

import type { Impersonation } from "./connection-options.js";

/**
 * Returns the impersonation headers of a request.
 *
 * @throws Error if there is no user: the server would then ignore all of the headers.
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

/**
 * Returns a text whose characters are the UTF-8 bytes of another: HTTP libraries write one byte per character, and
 * reject other characters.
 */
function utf8AsLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Escapes a text for a header name, which is case-insensitive. Upstream: headerKeyEscape. */
function escapeHeaderKey(name: string): string {
  return utf8AsLatin1(name)
    .replaceAll(
      /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .toLowerCase();
}
