import type { ApiRequest } from "@kubewright/transport";

import { type ApiError, forbidden, statusError } from "./api-error.js";
import type { Authenticator, ClientCertificate } from "./authentication/authenticator.js";
import { impersonationOf } from "./authentication/impersonation.js";
import type { ServiceAccountTokens } from "./authentication/service-account-tokens.js";
import {
  type AccessAttributes,
  type AccessDecision,
  type AccessRules,
  type Authorizer,
  EVERYTHING,
  type UserInfo,
  refusalText,
} from "./authorization/authorizer.js";
import type { RequestInfo } from "./request-info.js";

/** How a request came: from a caller in this process who is known, or over a connection that must say who it is. */
export type Caller =
  | { readonly type: "known"; readonly user: UserInfo }
  | {
      readonly type: "connection";
      readonly certificate: ClientCertificate | undefined;
      /** Why the request is refused if it shows no credentials. */
      readonly refusal: () => ApiError | undefined;
      /** Reads the request's body: for those who have been admitted. */
      readonly readBody: () => Promise<Uint8Array | undefined>;
    };

/** Who may come in, and what they may do. */
export class AccessControl {
  readonly authenticator: Authenticator;
  readonly serviceAccounts: ServiceAccountTokens;
  /** `undefined`: everybody may do everything. */
  readonly #authorizer: Authorizer | undefined;

  constructor(options: {
    authenticator: Authenticator;
    serviceAccounts: ServiceAccountTokens;
    authorizer: Authorizer | undefined;
  }) {
    this.authenticator = options.authenticator;
    this.serviceAccounts = options.serviceAccounts;
    this.#authorizer = options.authorizer;
  }

  /**
   * Whom a request is served for.
   *
   * @throws ApiError 401 or 403.
   */
  admit({ headers }: ApiRequest, { verb, path, resource }: RequestInfo, caller: Caller): UserInfo {
    let user = caller.type === "known" ? caller.user : this.#userOf(headers, caller);
    const impersonation = impersonationOf(headers);
    if (impersonation !== undefined) {
      for (const permission of impersonation.requiredPermissions) this.requireAllowed({ ...permission, user });
      user = impersonation.user;
    }
    if (this.#authorizer !== undefined) this.requireAllowed({ user, verb, path, resource });
    return user;
  }

  /** @throws ApiError 401 or 403. */
  #userOf(headers: ApiRequest["headers"], { certificate, refusal }: Extract<Caller, { type: "connection" }>): UserInfo {
    const user = this.authenticator.authenticate(headers, certificate);
    if (user === undefined) throw statusError(401, "Unauthorized", "Unauthorized");
    const refused = this.authenticator.hasVerifiedCredentials(user, certificate) ? undefined : refusal();
    if (refused !== undefined) throw refused;
    return user;
  }

  /** Whether anybody may be refused anything. */
  get isEnabled(): boolean {
    return this.#authorizer !== undefined;
  }

  decide(attributes: AccessAttributes): AccessDecision {
    return this.#authorizer?.authorize(attributes) ?? { allowed: true, reason: "" };
  }

  rulesFor(user: UserInfo, namespace: string): AccessRules {
    return this.#authorizer?.rulesFor(user, namespace) ?? EVERYTHING;
  }

  /** @throws ApiError 403 */
  requireAllowed(attributes: AccessAttributes): void {
    const { allowed, reason } = this.decide(attributes);
    if (!allowed) throw refusal(attributes, reason);
  }
}

function refusal(attributes: AccessAttributes, reason: string): ApiError {
  const why = `${refusalText(attributes)}${reason === "" ? "" : `: ${reason}`}`;
  const noSniff = { "x-content-type-options": "nosniff" };
  const { resource } = attributes;
  if (resource === undefined) return statusError(403, "Forbidden", `forbidden: ${why}`, {}, noSniff);
  const { status } = forbidden({ ...resource, kind: "" }, resource.name, why);
  return statusError(403, "Forbidden", status.message ?? "", status.details, noSniff);
}
