import type { Clock } from "@kubewright/clock";

import { ReviewCache } from "./review-cache.js";
import { type ReviewClient, tokenReviews } from "./review-client.js";
import type { UserInfo } from "./user-info.js";

export interface TokenAuthenticatorOptions {
  readonly reviews: ReviewClient;
  readonly clock: Pick<Clock, "monotonic">;
  /** How long an answer is used again, also a no. */
  readonly cacheTtlMs: number;
  /** Tokens are remembered by this, so that none lies around. */
  readonly hash: (text: string) => string;
}

/** No real token is longer; what is longer is not worth asking about. */
const MAX_TOKEN_LENGTH = 32_768;

/** Finds out from the API server whose a bearer token is. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  readonly #cache: ReviewCache<UserInfo | string>;

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    this.#cache = new ReviewCache({ clock: options.clock });
  }

  /** @returns the user, or why the token is refused. @throws when the API server cannot be asked. */
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
