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
  type RequestUser,
  refusalText,
} from "./authorization/authorizer.js";
import type { RequestInfo } from "./request-info.js";

/** Origin of a request: an in-process caller with a known user, or a connection whose client must authenticate. */
export type Caller =
  | { readonly type: "known"; readonly user: RequestUser }
  | {
      readonly type: "connection";
      readonly certificate: ClientCertificate | undefined;
      /** Returns the error for a request without credentials; `undefined` if such a request is allowed. */
      readonly refusal: () => ApiError | undefined;
      /** Reads the request's body. Call it only after authentication and authorization. */
      readonly readBody: () => Promise<Uint8Array | undefined>;
    };

/** Authenticates and authorizes requests. */
export class AccessControl {
  readonly authenticator: Authenticator;
  readonly serviceAccounts: ServiceAccountTokens;
  /** `undefined`: every user may do everything. */
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
   * Returns the user that the request runs as, after impersonation and authorization.
   *
   * @throws ApiError 401 or 403.
   */
  admit({ headers }: ApiRequest, { verb, path, resource }: RequestInfo, caller: Caller): RequestUser {
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
  #userOf(
    headers: ApiRequest["headers"],
    { certificate, refusal }: Extract<Caller, { type: "connection" }>,
  ): RequestUser {
    const user = this.authenticator.authenticate(headers, certificate);
    if (user === undefined) throw statusError(401, "Unauthorized", "Unauthorized");
    const refused = this.authenticator.hasVerifiedCredentials(user, certificate) ? undefined : refusal();
    if (refused !== undefined) throw refused;
    return user;
  }

  /** Whether an authorizer is configured. */
  get isEnabled(): boolean {
    return this.#authorizer !== undefined;
  }

  decide(attributes: AccessAttributes): AccessDecision {
    return this.#authorizer?.authorize(attributes) ?? { allowed: true, reason: "" };
  }

  rulesFor(user: RequestUser, namespace: string): AccessRules {
    return this.#authorizer?.rulesFor(user, namespace) ?? EVERYTHING;
  }

  /**
   * Throws unless the authorizer allows the request.
   *
   * @throws ApiError 403.
   */
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
