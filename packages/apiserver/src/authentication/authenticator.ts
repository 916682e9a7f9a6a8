import type { HeaderFields } from "@kubewright/transport";

import type { RequestUser } from "../authorization/authorizer.js";
import type { SigningKey } from "./json-web-token.js";
import type { ServiceAccountTokens } from "./service-account-tokens.js";
import { StaticTokens, type TokenUser } from "./static-tokens.js";

export interface AuthenticationOptions {
  /** Whether a request without credentials runs as `system:anonymous`. Default true. */
  readonly anonymous?: boolean;
  /** Bearer tokens and their users. */
  readonly tokens?: Readonly<Record<string, TokenUser>>;
  /** Text of a token file: lines of `token,user,uid,"group1,group2"`. */
  readonly tokenFile?: string;
  /**
   * Signs the tokens of service accounts: a secret of at least 32 bytes, or a private key (`signingKey(pem)` of
   * `@kubewright/apiserver/http`). Default: a random secret of this server, so that its tokens become invalid with it.
   */
  readonly serviceAccountKey?: string | Uint8Array | SigningKey;
  /** Default `https://kubernetes.default.svc.cluster.local`. */
  readonly serviceAccountIssuer?: string;
}

/** The certificate that a TLS client presented. */
export interface ClientCertificate {
  /** Whether the listener's client authority signed the certificate and it is valid now. */
  readonly trusted: boolean;
  /** The user name. */
  readonly commonName: string;
  /** The groups. */
  readonly organizations: readonly string[];
  /** SHA-256, in lower-case hexadecimal. */
  readonly fingerprint: string;
}

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
const ANONYMOUS: RequestUser = { username: "system:anonymous", groups: [UNAUTHENTICATED] };
/**
 * User of clients without known credentials when no authentication is configured. It belongs to both groups,
 * authenticated and unauthenticated.
 */
const USER_WITHOUT_AUTHENTICATION: RequestUser = {
  username: "system:anonymous",
  groups: [UNAUTHENTICATED, AUTHENTICATED],
};

/** Authenticates requests. Upstream: `pkg/kubeapiserver/authenticator`. */
export class Authenticator {
  readonly #anonymous: boolean;
  readonly #tokens: StaticTokens | undefined;
  readonly #serviceAccounts: ServiceAccountTokens;

  /** @param options - `undefined`: clients without known credentials are anonymous. */
  constructor(options: AuthenticationOptions | undefined, serviceAccounts: ServiceAccountTokens) {
    this.#serviceAccounts = serviceAccounts;
    this.#anonymous = options?.anonymous ?? true;
    if (options === undefined) return;
    this.#tokens = new StaticTokens();
    for (const [token, user] of Object.entries(options.tokens ?? {})) this.#tokens.add(token, user);
    if (options.tokenFile !== undefined) this.#tokens.addCsv(options.tokenFile);
  }

  /** Returns the user; `undefined` when the credentials are wrong, or missing although required (401). */
  authenticate(headers: HeaderFields, certificate: ClientCertificate | undefined): RequestUser | undefined {
    if (certificate?.trusted === true && certificate.commonName !== "") {
      return withAuthenticatedGroup({
        username: certificate.commonName,
        groups: certificate.organizations,
        extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${certificate.fingerprint}`] },
      });
    }
    const token = bearerToken(headers);
    if (token !== undefined) {
      const user = this.userOfToken(token);
      if (user !== undefined) return user;
      return this.#tokens === undefined ? USER_WITHOUT_AUTHENTICATION : undefined;
    }
    if (this.#tokens === undefined) return USER_WITHOUT_AUTHENTICATION;
    // An untrusted certificate counts as wrong credentials, not as missing ones.
    return certificate === undefined && this.#anonymous ? ANONYMOUS : undefined;
  }

  /**
   * Returns the user of a bearer token.
   *
   * @param audiences - The token must have at least one of these audiences. Default: this server.
   */
  userOfToken(token: string, audiences?: readonly string[]): RequestUser | undefined {
    const user = this.#tokens?.userOf(token) ?? this.#serviceAccounts.authenticate(token, audiences);
    return user === undefined ? undefined : withAuthenticatedGroup(user);
  }

  /** Whether verified credentials prove the user. Without authentication, a client can send any token. */
  hasVerifiedCredentials(user: RequestUser, certificate: ClientCertificate | undefined): boolean {
    return (this.isEnabled || certificate?.trusted === true) && !user.groups.includes(UNAUTHENTICATED);
  }

  /** Whether wrong credentials are refused. */
  get isEnabled(): boolean {
    return this.#tokens !== undefined;
  }
}

/** Adds `system:authenticated` to the user's groups. */
export function withAuthenticatedGroup(user: RequestUser): RequestUser {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

function bearerToken({ authorization }: HeaderFields): string | undefined {
  if (typeof authorization !== "string") return undefined;
  const token = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1];
  return token === "" ? undefined : token;
}
