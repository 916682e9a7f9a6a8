import type { KubernetesObject } from "@kubewright/api";
import { type Clock, type Random, uuid } from "@kubewright/clock";

import type { RequestUser } from "../authorization/authorizer.js";
import { isJsonObject } from "../json.js";
import type { ResourceRegistry } from "../resource-registry.js";
import type { Claims, TokenSigner } from "./json-web-token.js";

export const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

/** An object that a token is bound to besides its account: the token becomes invalid when the object is deleted. */
export interface BoundObject {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

export interface TokenTerms {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundTo?: BoundObject | undefined;
}

interface ServiceAccountTokensOptions {
  readonly signer: TokenSigner;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: ResourceRegistry;
  readonly issuer: string;
}

const RESOURCES: Readonly<Record<BoundObject["kind"], string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };

/**
 * Issues and verifies service account tokens. A token is valid until it expires, or until its account or bound object
 * is deleted. Upstream: `pkg/serviceaccount`.
 */
export class ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions;
  /** The issuer, and the default audience. */
  readonly issuer: string;

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.issuer = options.issuer;
  }

  issue({ metadata }: KubernetesObject, { audiences, expirationSeconds, boundTo }: TokenTerms): string {
    const { namespace = "", name = "", uid = "" } = metadata;
    const now = Math.floor(this.#options.clock.now() / 1000);
    return this.#options.signer.sign({
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: uuid(this.#options.random),
      "kubernetes.io": {
        namespace,
        ...(boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } }),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
  }

  /** Returns the user of a token that is valid now for one of the audiences. Default audience: this server. */
  authenticate(token: string, audiences: readonly string[] = [this.issuer]): RequestUser | undefined {
    const claims = this.#options.signer.verify(token);
    if (claims === undefined || !this.#isValidNow(claims) || claims["iss"] !== this.issuer) return undefined;
    const { aud } = claims;
    if (!Array.isArray(aud) || !audiences.some((audience) => aud.includes(audience))) return undefined;
    const kubernetesClaims = claims["kubernetes.io"];
    if (!isJsonObject(kubernetesClaims)) return undefined;
    const namespace = String(kubernetesClaims["namespace"]);
    const account = kubernetesClaims["serviceaccount"] as { name: string; uid: string };
    if (!this.#exists("serviceaccounts", namespace, account.name, account.uid)) return undefined;
    const extra: Record<string, readonly string[]> = {
      "authentication.kubernetes.io/credential-id": [`JTI=${String(claims["jti"])}`],
    };
    for (const [kind, resource] of Object.entries(RESOURCES)) {
      const bound = kubernetesClaims[kind.toLowerCase()] as { name: string; uid: string } | undefined;
      if (bound === undefined) continue;
      if (!this.#exists(resource, kind === "Node" ? "" : namespace, bound.name, bound.uid)) return undefined;
      if (kind === "Secret") continue;
      extra[`authentication.kubernetes.io/${kind.toLowerCase()}-name`] = [bound.name];
      extra[`authentication.kubernetes.io/${kind.toLowerCase()}-uid`] = [bound.uid];
    }
    return { ...serviceAccountUser(namespace, account.name), uid: account.uid, extra };
  }

  #isValidNow({ exp, nbf }: Claims): boolean {
    const now = this.#options.clock.now() / 1000;
    return typeof exp === "number" && typeof nbf === "number" && nbf <= now && now < exp;
  }

  #exists(resource: string, namespace: string, name: string, uid: string): boolean {
    return this.#options.registry.find("", "v1", resource)?.storage.get(namespace, name)?.object.metadata.uid === uid;
  }
}

/** Returns the user of a service account. */
export function serviceAccountUser(namespace: string, name: string): RequestUser {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
  };
}
