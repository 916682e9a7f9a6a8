import { flagGroup } from "../flag.js";
import { bool, duration, list, textNamed } from "../flag-types.js";

/** Authentication of requests to the HTTPS server. */
export interface AuthenticationOptions {
  readonly authenticationKubeconfig: string;
  readonly authenticationSkipLookup: boolean;
  readonly authenticationTolerateLookupFailure: boolean;
  readonly authenticationTokenWebhookCacheTtlMs: number;
  readonly clientCaFile: string;
  readonly requestheaderClientCaFile: string;
  readonly requestheaderUsernameHeaders: readonly string[];
  readonly requestheaderGroupHeaders: readonly string[];
  readonly requestheaderExtraHeadersPrefix: readonly string[];
  readonly requestheaderUidHeaders: readonly string[];
  readonly requestheaderAllowedNames: readonly string[];
}

/** Authorization of requests to the HTTPS server. */
export interface AuthorizationOptions {
  readonly authorizationKubeconfig: string;
  readonly authorizationAlwaysAllowPaths: readonly string[];
  readonly authorizationWebhookCacheAuthorizedTtlMs: number;
  readonly authorizationWebhookCacheUnauthorizedTtlMs: number;
}

export const delegatedAuthDefaults: AuthenticationOptions & AuthorizationOptions = {
  authenticationKubeconfig: "",
  authenticationSkipLookup: false,
  authenticationTolerateLookupFailure: false,
  authenticationTokenWebhookCacheTtlMs: 10_000,
  clientCaFile: "",
  requestheaderClientCaFile: "",
  requestheaderUsernameHeaders: ["x-remote-user"],
  requestheaderGroupHeaders: ["x-remote-group"],
  requestheaderExtraHeadersPrefix: ["x-remote-extra-"],
  requestheaderUidHeaders: [],
  requestheaderAllowedNames: [],
  authorizationKubeconfig: "",
  authorizationAlwaysAllowPaths: ["/healthz", "/readyz", "/livez"],
  authorizationWebhookCacheAuthorizedTtlMs: 10_000,
  authorizationWebhookCacheUnauthorizedTtlMs: 10_000,
};

const path = textNamed("path");

export const authenticationFlags = flagGroup<AuthenticationOptions>("Authentication", {
  authenticationKubeconfig: [
    "authentication-kubeconfig",
    path,
    "kubeconfig for TokenReviews and for reading the cluster's client CAs; default: the cluster this runs in",
  ],
  authenticationSkipLookup: ["authentication-skip-lookup", bool, "do not read the cluster's client CAs"],
  authenticationTolerateLookupFailure: [
    "authentication-tolerate-lookup-failure",
    bool,
    "continue without the cluster's client CAs when they cannot be read",
  ],
  authenticationTokenWebhookCacheTtlMs: [
    "authentication-token-webhook-cache-ttl",
    duration,
    "how long an answer about a token is kept",
  ],
  clientCaFile: ["client-ca-file", path, "CAs of client certificates: CN is the user, O the groups"],
  requestheaderClientCaFile: ["requestheader-client-ca-file", path, "CAs of front proxies"],
  requestheaderUsernameHeaders: ["requestheader-username-headers", list, "headers with the user"],
  requestheaderGroupHeaders: ["requestheader-group-headers", list, "headers with groups"],
  requestheaderExtraHeadersPrefix: [
    "requestheader-extra-headers-prefix",
    list,
    "prefixes of headers with anything else about the user",
  ],
  requestheaderUidHeaders: ["requestheader-uid-headers", list, "headers with the user's UID"],
  requestheaderAllowedNames: ["requestheader-allowed-names", list, "CNs of front proxies; default: any"],
});

export const authorizationFlags = flagGroup<AuthorizationOptions>("Authorization", {
  authorizationKubeconfig: [
    "authorization-kubeconfig",
    path,
    "kubeconfig for SubjectAccessReviews; default: the cluster this runs in",
  ],
  authorizationAlwaysAllowPaths: [
    "authorization-always-allow-paths",
    list,
    "paths that every client may request; a trailing * for a prefix",
  ],
  authorizationWebhookCacheAuthorizedTtlMs: [
    "authorization-webhook-cache-authorized-ttl",
    duration,
    "how long a yes is kept",
  ],
  authorizationWebhookCacheUnauthorizedTtlMs: [
    "authorization-webhook-cache-unauthorized-ttl",
    duration,
    "how long a no is kept",
  ],
});

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
