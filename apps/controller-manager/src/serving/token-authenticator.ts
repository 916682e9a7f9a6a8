import type { Clock } from "@kubewright/clock";

import { ReviewCache } from "./review-cache.js";
import { type ReviewClient, tokenReviews } from "./review-client.js";
import type { UserInfo } from "./user-info.js";

export interface TokenAuthenticatorOptions {
  readonly reviews: ReviewClient;
  readonly clock: Pick<Clock, "monotonic">;
  /** How long a review result is cached, for rejected tokens too. */
  readonly cacheTtlMs: number;
  /** Hash of a token in the cache, so that no token is stored. */
  readonly hash: (text: string) => string;
}

/** Longer tokens are rejected without a review: no valid token is longer. */
const MAX_TOKEN_LENGTH = 32_768;

/** Authenticates bearer tokens by TokenReviews. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  readonly #cache: ReviewCache<UserInfo | string>;

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    this.#cache = new ReviewCache({ clock: options.clock });
  }

  /**
   * @returns The user, or why the token is rejected.
   * @throws Error when the review request fails.
   */
  authenticate(token: string): Promise<UserInfo | string> {
    if (token.length > MAX_TOKEN_LENGTH) return Promise.resolve("invalid bearer token");
    return this.#cache.get(this.#options.hash(token), async () => ({
      value: await this.#review(token),
      ttlMs: this.#options.cacheTtlMs,
    }));
  }

  async #review(token: string): Promise<UserInfo | string> {
    const { status } = await this.#options.reviews.review("authn", tokenReviews, { token });
    if (status?.authenticated !== true || !status.user?.username) return status?.error || "invalid bearer token";
    const { username, uid, groups = [], extra } = status.user;
    return {
      username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    };
  }
}
