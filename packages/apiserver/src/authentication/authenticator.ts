import type { HeaderFields } from "@kubewright/transport";

import type { UserInfo } from "../authorization/authorizer.js";
import type { SigningKey } from "./json-web-token.js";
import type { ServiceAccountTokens } from "./service-account-tokens.js";
import { StaticTokens, type TokenUser } from "./static-tokens.js";

export interface AuthenticationOptions {
  /** Whether a request without credentials is let in as `system:anonymous`. Default true. */
  readonly anonymous?: boolean;
  /** Bearer tokens, and whose they are. */
  readonly tokens?: Readonly<Record<string, TokenUser>>;
  /** The text of a token file: lines of `token,user,uid,"group1,group2"`. */
  readonly tokenFile?: string;
  /**
   * Signs the tokens of service accounts: a secret of at least 32 bytes, or a private key (`signingKey(pem)` of
   * `@kubewright/apiserver/http`). Default: a secret that only this server knows, so that tokens end with it.
   */
  readonly serviceAccountKey?: string | Uint8Array | SigningKey;
  /** Default `https://kubernetes.default.svc.cluster.local`. */
  readonly serviceAccountIssuer?: string;
}

/** The certificate a TLS client showed. */
export interface ClientCertificate {
  /** Whether the authority that the listener trusts vouches for it, now. */
  readonly trusted: boolean;
  /** The user. */
  readonly commonName: string;
  /** The groups. */
  readonly organizations: readonly string[];
  /** SHA-256, in lower-case hexadecimal. */
  readonly fingerprint: string;
}

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
const ANONYMOUS: UserInfo = { username: "system:anonymous", groups: [UNAUTHENTICATED] };
/** Without any authentication set up, nobody is asked who they are; anybody is everybody. */
const USER_WITHOUT_AUTHENTICATION: UserInfo = {
  username: "system:anonymous",
  groups: [UNAUTHENTICATED, AUTHENTICATED],
};

/** Finds out who a request comes from. Upstream: `pkg/kubeapiserver/authenticator`. */
export class Authenticator {
  readonly #anonymous: boolean;
  readonly #tokens: StaticTokens | undefined;
  readonly #serviceAccounts: ServiceAccountTokens;

  /** @param options - `undefined`: whoever shows nothing that is known here is anonymous. */
  constructor(options: AuthenticationOptions | undefined, serviceAccounts: ServiceAccountTokens) {
    this.#serviceAccounts = serviceAccounts;
    this.#anonymous = options?.anonymous ?? true;
    if (options === undefined) return;
    this.#tokens = new StaticTokens();
    for (const [token, user] of Object.entries(options.tokens ?? {})) this.#tokens.add(token, user);
    if (options.tokenFile !== undefined) this.#tokens.addCsv(options.tokenFile);
  }

  /** `undefined`: the credentials are wrong, or there are none where some are needed (401). */
  authenticate(headers: HeaderFields, certificate: ClientCertificate | undefined): UserInfo | undefined {
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
    // A certificate that nobody vouches for is a wrong credential, not the lack of one.
    return certificate === undefined && this.#anonymous ? ANONYMOUS : undefined;
  }

  /** @param audiences - Whom the token must be for. Default: this server. */
  userOfToken(token: string, audiences?: readonly string[]): UserInfo | undefined {
    const user = this.#tokens?.userOf(token) ?? this.#serviceAccounts.authenticate(token, audiences);
    return user === undefined ? undefined : withAuthenticatedGroup(user);
  }

  /** Whether a user is one that only credentials can make: where nobody is asked, anybody could have made up a token. */
  hasVerifiedCredentials(user: UserInfo, certificate: ClientCertificate | undefined): boolean {
    return (this.isEnabled || certificate?.trusted === true) && !user.groups.includes(UNAUTHENTICATED);
  }

  /** Whether wrong credentials are refused. */
  get isEnabled(): boolean {
    return this.#tokens !== undefined;
  }
}

/** Whoever is known is in this group, too. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

function bearerToken({ authorization }: HeaderFields): string | undefined {
  if (typeof authorization !== "string") return undefined;
  const token = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1];
  return token === "" ? undefined : token;
}
