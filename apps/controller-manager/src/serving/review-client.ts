import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, defineResource } from "@kubewright/api";
import { type Client, StatusError, isConnectionLost, isInternalError } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";

import type { ServingMetrics } from "../metrics/serving-metrics.js";

export interface TokenReview extends KubernetesObject {
  readonly spec: { readonly token: string };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

export interface SubjectAccessReview extends KubernetesObject {
  readonly spec: {
    readonly user: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly nonResourceAttributes: { readonly path: string; readonly verb: string };
  };
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string };
}

export const tokenReviews = defineResource<TokenReview>({
  group: "authentication.k8s.io",
  version: "v1",
  resource: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
});

export const subjectAccessReviews = defineResource<SubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  resource: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
});

export interface ReviewClientOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: Pick<ServingMetrics, "delegated"> | undefined;
}

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;
const PAUSE_FACTOR = 1.5;
const JITTER = 0.2;

/**
 * Sends reviews to the API server. Internal errors and lost connections are retried, up to five attempts in total.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/util/webhook/webhook.go DefaultShouldRetry
 */
export class ReviewClient {
  readonly #options: ReviewClientOptions;

  constructor(options: ReviewClientOptions) {
    this.#options = options;
  }

  /** @throws The last attempt's error. */
  async review<T extends KubernetesObject>(
    what: "authn" | "authz",
    definition: ResourceDefinition<T>,
    spec: T extends { readonly spec: infer Spec } ? Spec : never,
  ): Promise<T> {
    const { clock, random } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(what, definition, { metadata: {}, spec } as unknown as T);
      } catch (error) {
        if (attempt >= ATTEMPTS || !(isInternalError(error) || isConnectionLost(error))) throw error;
        await clock.sleep(pauseMs * (1 + JITTER * random.next()));
        pauseMs *= PAUSE_FACTOR;
      }
    }
  }

  async #attempt<T extends KubernetesObject>(
    what: "authn" | "authz",
    definition: ResourceDefinition<T>,
    review: T,
  ): Promise<T> {
    const { client, clock, metrics } = this.#options;
    const startMs = clock.monotonic();
    const measure = (code: string): void => metrics?.delegated(what, code, (clock.monotonic() - startMs) / 1000);
    try {
      const answer = await client.resource(definition).create(review as DeepReadonly<T>);
      measure("201");
      return answer as T;
    } catch (error) {
      measure(error instanceof StatusError ? String(error.status.code) : "<error>");
      throw error;
    }
  }
}
