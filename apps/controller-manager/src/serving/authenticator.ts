import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import { unescapePath } from "@kubewright/transport";

import type { ServingMetrics } from "../metrics/serving-metrics.js";
import { type HttpRequest, header } from "./http-message.js";
import type { TokenAuthenticator } from "./token-authenticator.js";
import { ANONYMOUS, type UserInfo, authenticatedUser } from "./user-info.js";

/**
 * Configuration of a front proxy: the headers with which it names the user of a request. Header names are in lower
 * case.
 */
export interface RequestHeaderConfig {
  /** Authorities of the proxy's certificate, in PEM. */
  readonly authorities: string;
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** Allowed common names of the proxy; empty: any. */
  readonly allowedNames: readonly string[];
}

/** The current authorities for client certificates and front proxies. */
export interface ClientAuthorities {
  /** In PEM. */
  readonly clientCA: string | undefined;
  readonly requestHeader: RequestHeaderConfig | undefined;
}

export interface AuthenticatorOptions {
  /** Called for every request, because the authorities can change. */
  readonly authorities: () => ClientAuthorities;
  /** `undefined`: bearer tokens are ignored. */
  readonly tokens: Pick<TokenAuthenticator, "authenticate"> | undefined;
  readonly clock: Clock;
  readonly metrics?: Pick<ServingMetrics, "authenticated" | "clientCertificate"> | undefined;
}

/** The authenticated user, or why authentication failed. */
export type Authentication = { readonly user: UserInfo } | { readonly error: string };

/**
 * Authenticates a request by front proxy headers, client certificate, or bearer token, in this order. A request without
 * credentials is anonymous; one with only invalid credentials is refused.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/authentication/authenticatorfactory/delegating.go
 */
export class RequestAuthenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  async authenticate(request: HttpRequest): Promise<Authentication> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonic();
    const answer = await this.#decide(request);
    const seconds = (clock.monotonic() - startMs) / 1000;
    if ("user" in answer) metrics?.authenticated("success", seconds, answer.user.username);
    else metrics?.authenticated("error", seconds);
    return answer;
  }

  async #decide(request: HttpRequest): Promise<Authentication> {
    const errors: string[] = [];
    const { requestHeader, clientCA } = this.#options.authorities();
    for (const attempt of [
      () => (requestHeader === undefined ? undefined : byFrontProxy(request, requestHeader, this.#options.clock.now())),
      () => (clientCA === undefined ? undefined : this.#byCertificate(request, clientCA)),
      () => this.#byToken(request),
    ]) {
      const answer = await attempt();
      if (answer === undefined) continue;
      if ("user" in answer) return { user: authenticatedUser(answer.user) };
      errors.push(answer.error);
    }
    if (errors.length > 0) return { error: errors.join(", ") };
    return { user: ANONYMOUS };
  }

  #byCertificate({ peer }: HttpRequest, clientCA: string): Authentication | undefined {
    if (peer === undefined) return undefined;
    const { clock, metrics } = this.#options;
    const nowMs = clock.now();
    metrics?.clientCertificate((peer.notAfterMs - nowMs) / 1000);
    const problem = peer.problem(clientCA, nowMs);
    if (problem !== undefined) return { error: `verifying certificate failed: ${problem}` };
    if (peer.commonName === "") return undefined;
    return {
      user: {
        username: peer.commonName,
        groups: peer.organizations,
        extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${peer.fingerprint}`] },
      },
    };
  }

  async #byToken(request: HttpRequest): Promise<Authentication | undefined> {
    const { tokens } = this.#options;
    const token = /^bearer +(\S+)\s*$/i.exec(header(request, "authorization") ?? "")?.[1];
    if (tokens === undefined || token === undefined) return undefined;
    try {
      const user = await tokens.authenticate(token);
      return typeof user === "string" ? { error: user } : { user };
    } catch (error) {
      return { error: errorMessage(error) };
    }
  }
}

/** @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/authentication/request/headerrequest/requestheader.go */
function byFrontProxy(request: HttpRequest, config: RequestHeaderConfig, nowMs: number): Authentication | undefined {
  const { peer } = request;
  if (peer === undefined) return undefined;
  const problem = peer.problem(config.authorities, nowMs);
  if (problem !== undefined) return { error: problem };
  if (config.allowedNames.length > 0 && !config.allowedNames.includes(peer.commonName))
    return { error: `x509: subject with cn=${peer.commonName} is not in the allowed list` };
  const first = (names: readonly string[]): string => {
    for (const name of names) {
      const value = header(request, name);
      if (value) return value;
    }
    return "";
  };
  const username = first(config.usernameHeaders);
  if (username === "") return undefined;
  const uid = first(config.uidHeaders);
  return {
    user: {
      username,
      ...(uid === "" ? {} : { uid }),
      groups: config.groupHeaders.flatMap((name) => request.headers[name] ?? []),
      extra: extraOf(request, config.extraHeaderPrefixes),
    },
  };
}

function extraOf({ headers }: HttpRequest, prefixes: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const [name, values] of Object.entries(headers)) {
      if (!name.startsWith(prefix) || values === undefined) continue;
      const escaped = name.slice(prefix.length);
      const key = unescapePath(escaped) ?? escaped;
      extra.set(key, [...(extra.get(key) ?? []), ...values]);
    }
  }
  return Object.fromEntries(extra);
}
