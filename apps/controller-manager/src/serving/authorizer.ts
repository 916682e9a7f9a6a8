import type { Clock } from "@kubewright/clock";

import type { ServingMetrics } from "../metrics/serving-metrics.js";
import { pathMatcher } from "./path-patterns.js";
import { ReviewCache } from "./review-cache.js";
import { type ReviewClient, type SubjectAccessReview, subjectAccessReviews } from "./review-client.js";
import type { UserInfo } from "./user-info.js";

export interface AuthorizerOptions {
  /** Values of `--authorization-always-allow-paths`. */
  readonly alwaysAllowPaths: readonly string[];
  /** `undefined`: no API server is available for reviews. */
  readonly reviews: ReviewClient | undefined;
  readonly clock: Clock;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly metrics?: Pick<ServingMetrics, "authorized"> | undefined;
}

export interface AccessRequest {
  readonly user: UserInfo;
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export interface AccessDecision {
  readonly decision: "allowed" | "denied" | "no-opinion";
  readonly reason: string;
}

const MASTERS_GROUP = "system:masters";
const ALLOWED: AccessDecision = { decision: "allowed", reason: "" };
const NO_OPINION: AccessDecision = { decision: "no-opinion", reason: "" };
/**
 * Longest cached key, in characters. Longer requests are reviewed each time, so that a client cannot fill the memory.
 */
const MAX_CACHED_KEY = 10_000;

/**
 * Authorizes requests: `system:masters` may do everything, every user may request the always-allowed paths, and the API
 * server reviews the rest.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/authorization/authorizerfactory/delegating.go
 */
export class RequestAuthorizer {
  readonly #options: AuthorizerOptions;
  readonly #isAlwaysAllowed: (path: string) => boolean;
  readonly #cache: ReviewCache<AccessDecision>;

  /** @throws Error for an invalid path pattern. */
  constructor(options: AuthorizerOptions) {
    this.#options = options;
    this.#isAlwaysAllowed = pathMatcher(options.alwaysAllowPaths);
    this.#cache = new ReviewCache({ clock: options.clock });
  }

  /** @throws Error when the review request fails. */
  async authorize(request: AccessRequest): Promise<AccessDecision> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonic();
    const measure = (result: AccessDecision["decision"] | "error"): void =>
      metrics?.authorized(result, (clock.monotonic() - startMs) / 1000);
    try {
      const answer = await this.#decide(request);
      measure(answer.decision);
      return answer;
    } catch (error) {
      measure("error");
      throw error;
    }
  }

  async #decide({ user, verb, path }: AccessRequest): Promise<AccessDecision> {
    if (user.groups.includes(MASTERS_GROUP) || this.#isAlwaysAllowed(path)) return ALLOWED;
    const { reviews } = this.#options;
    if (reviews === undefined) return NO_OPINION;
    const { username, uid, groups, extra } = user;
    const spec: SubjectAccessReview["spec"] = {
      user: username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
      nonResourceAttributes: { path, verb },
    };
    const key = JSON.stringify(spec);
    return this.#cache.get(key, async () => {
      const value = await review(reviews, spec);
      const { authorizedTtlMs, unauthorizedTtlMs } = this.#options;
      const ttlMs = value.decision === "allowed" ? authorizedTtlMs : unauthorizedTtlMs;
      return { value, ttlMs: key.length > MAX_CACHED_KEY ? 0 : ttlMs };
    });
  }
}

async function review(reviews: ReviewClient, spec: SubjectAccessReview["spec"]): Promise<AccessDecision> {
  const { status } = await reviews.review("authz", subjectAccessReviews, spec);
  const { allowed = false, denied = false, reason = "" } = status ?? {};
  if (denied) return { decision: "denied", reason };
  return { decision: allowed ? "allowed" : "no-opinion", reason };
}
