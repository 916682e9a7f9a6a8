import { namespaces, serviceAccounts } from "@kubewright/api";
import { type Client, errorMessage, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { Transport } from "@kubewright/transport";

export interface ServiceAccountTokenOptions {
  /** Authenticates as the manager. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the ServiceAccount in `kube-system`. */
  readonly name: string;
}

const NAMESPACE = "kube-system";
const REQUESTED_LIFETIME_SECONDS = 3_600;
const MIN_LIFETIME_SECONDS = 600;
/** A token is renewed after this fraction of its lifetime. */
const RENEW_AFTER_FRACTION = 0.8;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** Pause between attempts to renew a token that is still valid. */
const RENEWAL_PAUSE_MS = 10_000;

interface Token {
  readonly value: string;
  readonly renewMs: number;
  readonly expiresMs: number;
}

/**
 * The bearer token of a controller. Creates the ServiceAccount if it is missing, and renews the token when a fifth of
 * its lifetime is left.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/controller-manager/pkg/clientbuilder/client_builder_dynamic.go
 */
export class ServiceAccountToken {
  readonly #options: ServiceAccountTokenOptions;
  #token: Token | undefined;
  #renewing: Promise<Token> | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
  }

  /** Username of requests with the token. */
  get user(): string {
    return `system:serviceaccount:${NAMESPACE}:${this.#options.name}`;
  }

  /**
   * Returns a valid token.
   *
   * @throws Error with the name of the ServiceAccount when no token can be obtained.
   */
  async current(): Promise<string> {
    const nowMs = this.#options.clock.monotonic();
    const token = this.#token;
    if (token !== undefined && nowMs < token.renewMs) return token.value;
    if (token !== undefined && nowMs < token.expiresMs) {
      if (nowMs >= this.#notBeforeMs) await this.#renew().catch((error: unknown) => this.#recordRenewalFailure(error));
      return (this.#token ?? token).value;
    }
    return (await this.#renew()).value;
  }

  /** Discards a token that the API server rejected: the ServiceAccount may have been recreated. */
  discard(value: string): void {
    if (this.#token?.value === value) this.#token = undefined;
  }

  /** Wraps a transport to authenticate with the token. The inner transport must not authenticate itself. */
  transport(anonymous: Transport): Transport {
    return async (request) => {
      const token = await this.current();
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const response = await anonymous({ ...request, headers });
      if (response.status === 401) this.discard(token);
      return response;
    };
  }

  #recordRenewalFailure(error: unknown): void {
    const { clock, logger, name } = this.#options;
    this.#notBeforeMs = clock.monotonic() + RENEWAL_PAUSE_MS;
    logger.warn(
      { serviceAccount: name, err: errorMessage(error) },
      "Cannot renew the token, the last one still serves",
    );
  }

  #renew(): Promise<Token> {
    this.#renewing ??= this.#obtain().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #obtain(): Promise<Token> {
    const { clock, name } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#ensureAccount();
        this.#token = await this.#request();
        return this.#token;
      } catch (error) {
        if (attempt >= ATTEMPTS) {
          throw new Error(`failed to get token for ${NAMESPACE}/${name}: ${errorMessage(error)}`, { cause: error });
        }
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }

  async #request(): Promise<Token> {
    const { client, clock, name } = this.#options;
    const body = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: REQUESTED_LIFETIME_SECONDS },
    };
    const startMs = clock.monotonic();
    const answer = (await client
      .resource(serviceAccounts)
      .createSubresource(name, "token", body, { namespace: NAMESPACE })) as {
      readonly spec?: { readonly expirationSeconds?: number };
      readonly status?: { readonly token?: string };
    };
    const value = answer.status?.token;
    if (!value) throw new Error("the answer holds no token");
    const lifeSeconds = Math.max(answer.spec?.expirationSeconds ?? REQUESTED_LIFETIME_SECONDS, MIN_LIFETIME_SECONDS);
    return {
      value,
      renewMs: startMs + lifeSeconds * RENEW_AFTER_FRACTION * 1_000,
      expiresMs: startMs + lifeSeconds * 1_000,
    };
  }

  async #ensureAccount(): Promise<void> {
    const { client, name } = this.#options;
    const accounts = client.resource(serviceAccounts);
    try {
      await accounts.get(name, { namespace: NAMESPACE });
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    // The namespace exists already, or the next request reports the error.
    await client
      .resource(namespaces)
      .create({ metadata: { name: NAMESPACE } })
      .catch(() => undefined);
    try {
      await accounts.create({ metadata: { name, namespace: NAMESPACE } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
