import { type OptionsOf, option, optionGroup } from "../flag.js";
import { bool, duration, list, textNamed } from "../flag-types.js";

const path = textNamed("path");

/** Authentication of requests to the HTTPS server. */
export const authenticationOptions = optionGroup("Authentication", {
  authenticationKubeconfig: option(
    path,
    "",
    "kubeconfig for TokenReviews and for reading the cluster's client CAs; default: the cluster this runs in",
  ),
  authenticationSkipLookup: option(bool, false, "do not read the cluster's client CAs"),
  authenticationTolerateLookupFailure: option(
    bool,
    false,
    "continue without the cluster's client CAs when they cannot be read",
  ),
  authenticationTokenWebhookCacheTtlMs: option(duration, 10_000, "how long an answer about a token is kept"),
  clientCaFile: option(path, "", "CAs of client certificates: CN is the user, O the groups"),
  requestheaderClientCaFile: option(path, "", "CAs of front proxies"),
  requestheaderUsernameHeaders: option(list, ["x-remote-user"], "headers with the user"),
  requestheaderGroupHeaders: option(list, ["x-remote-group"], "headers with groups"),
  requestheaderExtraHeadersPrefix: option(
    list,
    ["x-remote-extra-"],
    "prefixes of headers with anything else about the user",
  ),
  requestheaderUidHeaders: option(list, [], "headers with the user's UID"),
  requestheaderAllowedNames: option(list, [], "CNs of front proxies; default: any"),
});

export type AuthenticationOptions = OptionsOf<typeof authenticationOptions>;

/** Authorization of requests to the HTTPS server. */
export const authorizationOptions = optionGroup("Authorization", {
  authorizationKubeconfig: option(path, "", "kubeconfig for SubjectAccessReviews; default: the cluster this runs in"),
  authorizationAlwaysAllowPaths: option(
    list,
    ["/healthz", "/readyz", "/livez"],
    "paths that every client may request; a trailing * for a prefix",
  ),
  authorizationWebhookCacheAuthorizedTtlMs: option(duration, 10_000, "how long a yes is kept"),
  authorizationWebhookCacheUnauthorizedTtlMs: option(duration, 10_000, "how long a no is kept"),
});

export type AuthorizationOptions = OptionsOf<typeof authorizationOptions>;

export function delegatedAuthErrors(options: AuthenticationOptions & AuthorizationOptions): string[] {
  const errors: string[] = [];
  for (const [flag, values] of [
    ["requestheader-username-headers", options.requestheaderUsernameHeaders],
    ["requestheader-group-headers", options.requestheaderGroupHeaders],
    ["requestheader-extra-headers-prefix", options.requestheaderExtraHeadersPrefix],
    ["requestheader-uid-headers", options.requestheaderUidHeaders],
    ["requestheader-allowed-names", options.requestheaderAllowedNames],
  ] as const) {
    if (values.some((value) => value.trim() === "")) errors.push(`empty value in ${JSON.stringify(flag)}`);
  }
  for (const open of options.authorizationAlwaysAllowPaths) {
    if (open.slice(0, -1).includes("*")) errors.push(`only trailing * allowed in ${JSON.stringify(open)}`);
  }
  return errors;
}
