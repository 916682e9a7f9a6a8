import { Client, type RequestMetrics } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { KubernetesController } from "@kubewright/manager/kubernetes";
import type { Transport } from "@kubewright/transport";

import type { ControllerManagerOptions } from "./options.js";
import { ServiceAccountToken } from "./service-account-token.js";
import { type Build, userAgent } from "./user-agent.js";

export interface ClientsOptions {
  readonly options: ControllerManagerOptions;
  /** Authenticates as the manager. */
  readonly transport: Transport;
  /** Sends no credentials; required with `--use-service-account-credentials`. */
  readonly anonymousTransport: Transport | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: Build;
  readonly metrics?: RequestMetrics | undefined;
}

/** client-go's default limit for clients without their own. */
const DEFAULT_RATE_LIMIT = { qps: 5, burst: 10 };

/**
 * Creates the clients of controllers, each with its own User-Agent and rate limit, and with its own credentials if
 * configured.
 */
export class Clients {
  readonly #options: ClientsOptions;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Creates a client that authenticates as the manager. */
  named(name: string): Client {
    return this.#client(this.#options.transport, name);
  }

  /** @throws Error when the controller needs its own credentials and there is no token. */
  async forController({ clientName, requestsPerAction }: KubernetesController): Promise<Client> {
    const { options, anonymousTransport, clock, logger } = this.#options;
    if (!options.useServiceAccountCredentials || anonymousTransport === undefined)
      return this.#client(this.#options.transport, clientName, requestsPerAction);
    const token = new ServiceAccountToken({
      client: this.named("controller-credentials"),
      clock,
      logger,
      name: clientName,
    });
    await token.current();
    return this.#client(token.transport(anonymousTransport), token.user, requestsPerAction);
  }

  #client(transport: Transport, name: string, factor = 1): Client {
    const { options, clock, build, metrics } = this.#options;
    return new Client({
      transport,
      clock,
      userAgent: userAgent(build, name),
      metrics,
      ...rateLimitOf(options, factor),
    });
  }
}

/** The rate limit of a client from `--kube-api-qps` and `--kube-api-burst`. */
export function rateLimitOf(
  { kubeApiQps: qps, kubeApiBurst: burst }: ControllerManagerOptions,
  factor: number,
): { rateLimit?: { qps: number; burst: number } } {
  if (qps < 0) return {};
  return { rateLimit: qps === 0 ? DEFAULT_RATE_LIMIT : { qps: qps * factor, burst } };
}
